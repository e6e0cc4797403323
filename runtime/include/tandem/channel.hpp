// channel.hpp: a bounded queue between tasks; many may send, many may receive.
// SPDX-License-Identifier: MIT
//
// A ring, which is allocated once, and two lists of waiters under a lock. A send or a receive that
// is ready moves its end of the ring on by one CAS (detail/channel_ring.hpp). If receivers wait, a
// send hands its value to the oldest; if senders wait, a receive takes in the value of the oldest.
// Whoever waits is posted to its home once per wait, not per item: the running side goes on until
// it has to wait itself.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/channel_core.hpp>
#include <tandem/errors.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0 {

template <class T>
class send_awaiter;
template <class T>
class send_copy_awaiter;
template <class T>
class receive_awaiter;

/// A send to a channel that was closed. The value is still the sender's. Its code is
/// errc::channel_closed; as_result() gives that, and nothing is thrown.
class TANDEM_API channel_closed : public std::system_error {
 public:
  channel_closed();
  channel_closed(const channel_closed&) = default;
  channel_closed& operator=(const channel_closed&) = default;
  ~channel_closed() override;
};

/// Of a moment.
struct channel_stats {
  channel_stats() noexcept = default;

  std::size_t size = 0;               ///< values in the queue
  std::size_t waiting_senders = 0;    ///< sends that wait for room
  std::size_t waiting_receivers = 0;  ///< receives that wait for a value
  bool is_closed = false;
};

/// A queue of at most `capacity` values. With capacity 0 a send waits for its receiver
/// (rendezvous).
///
///     tandem::channel<std::string> lines(16);
///     co_await lines.send(read_line());                  // the producer, which in the end closes it
///     while (auto line = co_await lines.receive()) {     // the consumer, until closed and drained
///       print(*line);
///     }
///
/// Values come in the order in which their sends began to wait or were ready; whoever waits longest
/// is served first, on both sides. What moves a T must not throw nor use the channel.
///
/// It may be destroyed when all calls and awaits have returned; a send that did not wait has, as far
/// as that goes, as soon as its value was received.
///
/// @thread_safety  all members from any thread; try_send, try_receive and close also outside any
///                 task
template <class T>
class channel {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "a value in a channel is moved where others wait for that: moving must not throw");
  static_assert(alignof(T) <= 16, "a value aligned over 16 bytes has to live on the heap (g++ 12)");

 public:
  /// @throws  std::bad_alloc; nothing is allocated later
  /// @cost    8 bytes a place beside the value, all of them written now
  explicit channel(std::size_t capacity) : core_(capacity) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  /// Waits until there is room (or a receiver), and moves `value` in.
  ///
  /// @param value        stays the caller's and alive until the await returns; moved from if it
  ///                     returns normally, untouched if it throws
  /// @throws             channel_closed; operation_cancelled if a stop comes while it waits, or
  ///                     came before
  /// @cancellation       may lose the race and return normally: then the value was delivered, else
  ///                     not. One that is ready may go through in a stopped task, up to 128 in a row
  /// @resumes_on         the caller's home
  /// @cost               a CAS and a move; no allocation
  send_awaiter<T> send(T&& value) noexcept { return send_awaiter<T>(core_, value); }
  /// As above, with a copy that is made by the call.
  send_copy_awaiter<T> send(const T& value) { return send_copy_awaiter<T>(core_, T(value)); }

  /// Waits for a value.
  ///
  /// @returns        the oldest one; nothing when the channel is closed and drained
  /// @throws         operation_cancelled if a stop comes while it waits, or came before
  /// @cancellation   may lose the race and return a value; none is ever lost. One that is ready may
  ///                 go through in a stopped task, up to 128 in a row
  /// @resumes_on     the caller's home
  /// @cost           a CAS and two moves; no allocation
  receive_awaiter<T> receive() noexcept { return receive_awaiter<T>(core_); }

  /// @returns  false if it is full (capacity 0: nobody waits) or closed: then `value` is untouched
  bool try_send(T&& value) noexcept {
    return core_.try_put(value, detail::this_thread()) == detail::channel_result::done;
  }
  bool try_send(const T& value) {
    T copy(value);
    return try_send(std::move(copy));
  }
  /// @returns  nothing if it is empty
  std::optional<T> try_receive() noexcept {
    std::optional<T> value;
    (void)core_.try_take(value, detail::this_thread());
    return value;
  }

  /// No more values: sends throw channel_closed from now on, also those that wait; receives go on
  /// until it is drained. Again: nothing.
  ///
  /// Either side may do it. Receivers that give up call close(), then drain(): whoever sends is told,
  /// and no value stays behind.
  void close() noexcept { core_.close(); }
  bool is_closed() const noexcept { return core_.is_closed(); }

  /// Receives all that can be received without a wait, and calls `use(T&&)` with each. On a
  /// channel that is not closed it goes on for as long as senders keep up with it.
  ///
  /// @returns  how many there were
  /// @throws   what `use` throws; the values that it was not called with are still in the channel
  template <class Use>
    requires std::invocable<Use&, T&&>
  std::size_t drain(Use use) {
    std::size_t count = 0;
    while (std::optional<T> value = try_receive()) {
      ++count;
      std::invoke(use, std::move(*value));
    }
    return count;
  }
  /// Likewise; the values go.
  std::size_t drain() noexcept {
    return drain([](T&&) noexcept {});
  }

  std::size_t capacity() const noexcept { return core_.capacity(); }
  /// Values in the queue; others may change it at the same time.
  std::size_t size() const noexcept { return core_.size(); }
  /// @cost  the channel's lock twice; looks at each of those that wait
  channel_stats stats() noexcept {
    channel_stats now;
    now.size = size();
    now.waiting_senders = core_.count_senders();
    now.waiting_receivers = core_.count_receivers();
    now.is_closed = is_closed();
    return now;
  }

  // Implementation
 private:
  detail::channel_core<T> core_;
};

namespace detail {

[[noreturn]] TANDEM_API void throw_channel_closed();

}  // namespace detail

/// Awaiter of channel::send().
template <class T>
class [[nodiscard]] send_awaiter {
 public:
  using tandem_awaiter = void;

  send_awaiter(detail::channel_core<T>& target, T& value) noexcept
      : target_(&target), value_(std::addressof(value)) {}
  /// For an awaiter that has not started.
  send_awaiter(send_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    detail::thread_context& context = detail::this_thread();
    if (detail::must_stop(context)) [[unlikely]]
      return false;
    const detail::channel_result result = target_->try_put(*value_, context);
    if (result == detail::channel_result::done) [[likely]]
      return room_.ready(context);
    closed_ = result == detail::channel_result::closed;
    return closed_;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (room_.gave_way(self.promise())) return true;
    return target_->wait_to_send(room_.build(*target_, *value_), self.promise());
  }
  /// That it was stopped; that the channel is closed is thrown.
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  void await_resume() {
    room_.throw_if_cancelled();
    if (has_closed()) [[unlikely]]
      detail::throw_channel_closed();
  }
  /// For as_result(): nothing is thrown.
  result<void> await_resume_result() noexcept {
    if (room_.has_waited() && room_.get().cancelled()) {
      return make_error_code(room_.get().cancel_reason());
    }
    if (has_closed()) return make_error_code(errc::channel_closed);
    return {};
  }

  // As a branch of select() (protocol selecting).
  using select_once = void;
  bool select_try() noexcept {
    const detail::channel_result result = target_->try_put(*value_, detail::this_thread());
    closed_ = result == detail::channel_result::closed;
    return result != detail::channel_result::would_wait;
  }
  bool select_arm(detail::select_place& as) noexcept {
    return target_->arm_send(room_.branch(as, *target_, *value_));
  }
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 protected:
  detail::channel_core<T>* target_;
  T* value_;

 private:
  bool has_closed() noexcept {
    if (room_.has_waited()) [[unlikely]]
      return room_.get().closed;
    return closed_;
  }

  bool closed_ = false;
  detail::waiter_room<detail::channel_sender<T>> room_;
};

/// Awaiter of channel::send() of a copy.
template <class T>
class [[nodiscard]] send_copy_awaiter : public send_awaiter<T> {
 public:
  send_copy_awaiter(detail::channel_core<T>& target, T&& copy) noexcept
      : send_awaiter<T>(target, copy), copy_(std::move(copy)) {}
  /// For an awaiter that has not started.
  send_copy_awaiter(send_copy_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    this->value_ = std::addressof(copy_);  // from here on the awaiter stays where it is
    return send_awaiter<T>::await_ready();
  }
  bool select_try() noexcept {
    this->value_ = std::addressof(copy_);  // likewise
    return send_awaiter<T>::select_try();
  }
  bool select_arm(detail::select_place& as) noexcept {
    this->value_ = std::addressof(copy_);  // likewise: it need not have been tried
    return send_awaiter<T>::select_arm(as);
  }

 private:
  T copy_;
};

/// Awaiter of channel::receive().
template <class T>
class [[nodiscard]] receive_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it

  explicit receive_awaiter(detail::channel_core<T>& target) noexcept : target_(&target) {}
  /// For an awaiter that has not started.
  receive_awaiter(receive_awaiter&& other) noexcept : target_(other.target_) {}

  bool await_ready() noexcept {
    detail::thread_context& context = detail::this_thread();
    if (detail::must_stop(context)) [[unlikely]]
      return false;
    const detail::channel_result result = target_->try_take(value_, context);
    if (result == detail::channel_result::done) [[likely]]
      return room_.ready(context);
    return result == detail::channel_result::closed;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (room_.gave_way(self.promise())) return true;
    return target_->wait_to_receive(room_.build(*target_, value_), self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  std::optional<T> await_resume() {
    room_.throw_if_cancelled();
    // Its parts, each by itself: both at once would wait until they have left the store buffer.
    if (!value_) return std::nullopt;
    return std::optional<T>(std::move(*value_));
  }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept {
    return target_->try_take(value_, detail::this_thread()) != detail::channel_result::would_wait;
  }
  bool select_arm(detail::select_place& as) noexcept {
    return target_->arm_receive(room_.branch(as, *target_, value_));
  }
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept {
    room_.reset();
    value_.reset();
  }

 private:
  detail::channel_core<T>* target_;
  std::optional<T> value_;
  detail::waiter_room<detail::channel_receiver<T>> room_;
};

}  // namespace tandem::inline v0
