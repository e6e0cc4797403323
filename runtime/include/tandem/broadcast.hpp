// broadcast.hpp: every receiver sees every value, or hears how many it has missed.
// SPDX-License-Identifier: MIT
//
// The last n values stand in a ring, from which each receiver copies them out, at its own pace; who
// is slower than the ring is long misses values, and is told so. So the slow never hold up the
// others, nor the sender.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <tandem/channel.hpp>
#include <tandem/config.hpp>
#include <tandem/detail/broadcast_core.hpp>

namespace tandem::inline v0 {

template <class T>
class broadcast;
template <class T>
class broadcast_receiver;

/// What a receiver of a broadcast is given: a value; or how many it has missed; or the end, which
/// is false.
template <class T>
class [[nodiscard]] broadcast_item {
 public:
  broadcast_item() noexcept = default;

  /// False when the broadcast is closed, and all was received.
  explicit operator bool() const noexcept { return value_.has_value() || missed_ != 0; }
  /// Not 0: this is no value; so many were overwritten before this receiver came to them. The next
  /// receive gives the oldest one that is left.
  std::uint64_t missed() const noexcept { return missed_; }
  bool has_value() const noexcept { return value_.has_value(); }
  T& operator*() & noexcept { return checked(*this); }
  const T& operator*() const& noexcept { return checked(*this); }
  T&& operator*() && noexcept { return std::move(checked(*this)); }
  T* operator->() noexcept { return std::addressof(checked(*this)); }
  const T* operator->() const noexcept { return std::addressof(checked(*this)); }

  // Implementation
  void set_missed(std::uint64_t count) noexcept { missed_ = count; }
  void set_value(const T& value) { value_.emplace(value); }

 private:
  template <class Self>
  static auto& checked(Self& self) noexcept {
    TANDEM_ASSERT(self.has_value(), "this broadcast_item is what was missed, or the end: no value");
    return *self.value_;
  }

  std::optional<T> value_;
  std::uint64_t missed_ = 0;
};

/// Awaiter of broadcast_receiver::receive().
template <class T>
class [[nodiscard]] broadcast_receive_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it

  explicit broadcast_receive_awaiter(broadcast_receiver<T>& target) noexcept : target_(&target) {}
  broadcast_receive_awaiter(broadcast_receive_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    return !detail::must_stop() && target_->look() != detail::broadcast_look::nothing &&
           room_.ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (room_.gave_way(self.promise())) return true;
    return target_->start(room_.build(*target_->core_), self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  broadcast_item<T> await_resume() {
    room_.throw_if_cancelled();
    return target_->take();
  }

  // As a branch of select() (protocol selecting).
  bool select_try() const noexcept { return target_->look() != detail::broadcast_look::nothing; }
  bool select_arm(detail::select_place& as) noexcept {
    return target_->arm(room_.branch(as, *target_->core_));
  }
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 private:
  broadcast_receiver<T>* target_;
  detail::waiter_room<detail::broadcast_waiter> room_;
};

/// A place in a broadcast, from broadcast::subscribe(). It has to go before the broadcast does.
///
/// @thread_safety  one task at a time; no receive may wait while it is moved
template <class T>
class [[nodiscard]] broadcast_receiver {
 public:
  broadcast_receiver(broadcast_receiver&& other) noexcept
      : core_(std::exchange(other.core_, nullptr)), at_(other.at_) {}
  broadcast_receiver& operator=(broadcast_receiver&& other) noexcept {
    broadcast_receiver moved(std::move(other));
    std::swap(core_, moved.core_);
    std::swap(at_, moved.at_);
    return *this;
  }
  ~broadcast_receiver() {
    if (core_ != nullptr) core_->leave();
  }

  /// Waits for the next value.
  ///
  /// @returns        the oldest one that was not received yet; or how many have been missed; or the
  ///                 end
  /// @throws         what copying a T throws: then it may be received again; operation_cancelled if
  ///                 a stop comes while it waits, or came before
  /// @cancellation   may lose the race and return a value; else this receiver has taken nothing.
  ///                 One that is ready may go through in a stopped task, up to 128 in a row
  /// @resumes_on     the caller's home
  /// @cost           a CAS, a copy, an atomic add; no allocation of its own
  broadcast_receive_awaiter<T> receive() noexcept { return broadcast_receive_awaiter<T>(*this); }
  /// @returns  nothing if no value has come; else as receive()
  std::optional<broadcast_item<T>> try_receive() {
    if (look() == detail::broadcast_look::nothing) return std::nullopt;
    return take();
  }

  /// How many values were sent that this one has not received, those it will miss among them.
  std::uint64_t behind() const noexcept { return core_->sent() - at_.next; }

  // Implementation
 private:
  friend broadcast<T>;
  friend broadcast_receive_awaiter<T>;

  explicit broadcast_receiver(detail::broadcast_core<T>& core) noexcept
      : core_(&core), at_(core.join()) {}

  detail::broadcast_look look() const noexcept {
    TANDEM_ASSERT(core_ != nullptr, "the receiver of a broadcast was moved from");
    return core_->look(at_);
  }
  bool start(detail::waiter& self, detail::promise_base& waiting) noexcept {
    return core_->start(self, waiting, at_);
  }
  bool arm(detail::waiter& self) noexcept { return core_->arm(self, at_); }
  /// When there is something, or the end.
  broadcast_item<T> take() {
    broadcast_item<T> item;
    while (!core_->read(at_, [&](const T& value) { item.set_value(value); })) {
      if (const std::uint64_t missed = core_->catch_up(at_)) {
        item.set_missed(missed);
        break;
      }
      if (core_->look(at_) == detail::broadcast_look::ended) break;
    }
    return item;
  }

  detail::broadcast_core<T>* core_;
  detail::broadcast_place at_;
};

/// Values for all that listen. Any number may send, any number receive.
///
///     tandem::broadcast<quote> quotes(64);
///     auto feed = quotes.subscribe();                       // sees all that is sent from now on
///     quotes.send(quote("ACME", 12));                       // never waits; no task is needed
///     while (auto item = co_await feed.receive()) {         // until it is closed
///       if (item.missed() != 0) continue;                   // more than 64 came meanwhile
///       show(*item);
///     }
///
/// All receivers see the values in the same order. A value stays until `capacity` others have been
/// sent, also when everybody has received it. Of a T that can be copied, and moved without
/// throwing; where copies are dear, broadcast a std::shared_ptr<const T>. What copies or destroys a
/// T must not use the broadcast.
///
/// It may be destroyed when all calls have returned and all its receivers are gone.
///
/// @thread_safety  all members from any thread, also outside any task
template <class T>
class broadcast {
  static_assert(std::is_copy_constructible_v<T>, "each receiver of a broadcast gets a copy");
  static_assert(
      std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
      "a value of a broadcast is moved where others wait for that: moving must not throw");
  static_assert(alignof(T) <= 16, "a value aligned over 16 bytes has to live on the heap (g++ 12)");

 public:
  /// @param capacity  how many values a receiver may be behind without missing any; at least 1
  /// @throws          std::bad_alloc; nothing is allocated later
  explicit broadcast(std::size_t capacity) : core_(capacity != 0 ? capacity : 1) {}

  /// Never waits for a receiver, but for as long as one copies the value that is to be replaced.
  ///
  /// @throws  channel_closed: then `value` is untouched
  /// @cost    a short lock and a move; one post for each run of waiting receivers with the same
  ///          home
  void send(T&& value) {
    if (!core_.send(value)) detail::throw_channel_closed();
  }
  void send(const T& value) { send(T(value)); }
  /// @returns  false if it is closed: then `value` is untouched
  bool try_send(T&& value) noexcept { return core_.send(value); }
  bool try_send(const T& value) { return try_send(T(value)); }

  /// @returns  a receiver of all values whose sends begin after this
  broadcast_receiver<T> subscribe() noexcept { return broadcast_receiver<T>(core_); }

  /// No more values: sends are refused from now on; each receiver gets what is left, then the end.
  /// Again: nothing.
  void close() noexcept { core_.close(); }
  bool is_closed() const noexcept { return core_.is_closed(); }

  std::size_t capacity() const noexcept { return core_.capacity(); }
  /// How many values were sent since it was made.
  std::uint64_t sent() const noexcept { return core_.sent(); }
  /// How many receivers there are; others may come and go at the same time.
  std::size_t receivers() const noexcept { return core_.receivers(); }
  /// How many of them wait for a value; looks at each, under the lock.
  std::size_t waiting() noexcept { return core_.waiting(); }

  // Implementation
 private:
  detail::broadcast_core<T> core_;
};

}  // namespace tandem::inline v0
