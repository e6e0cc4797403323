// unbounded_channel.hpp: a queue between tasks that takes everything, and says when it is long.
// SPDX-License-Identifier: MIT
//
// Sends never wait, so nothing holds up a producer that is faster than its consumer: the queue
// grows until the memory is gone. A bounded channel is the right one wherever a producer can wait.
// Where it cannot (a callback, a destructor, a log), the watermark tells that it is getting long.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <tandem/channel.hpp>
#include <tandem/config.hpp>
#include <tandem/detail/segment_queue.hpp>
#include <tandem/detail/unbounded_base.hpp>

namespace tandem::inline v0 {

template <class T>
class unbounded_channel;

/// Of a moment.
struct unbounded_stats {
  unbounded_stats() noexcept = default;

  std::size_t size = 0;          ///< values in the queue
  std::size_t largest_size = 0;  ///< so many at most, since it was made; to within a block
  std::uint64_t received = 0;    ///< since it was made; `received + size` were sent
  std::size_t memory_bytes = 0;  ///< of the blocks that the values are in
  std::size_t waiting_receivers = 0;
  bool is_high = false;
};

/// Awaiter of unbounded_channel::receive().
template <class T>
class [[nodiscard]] unbounded_receive_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it

  explicit unbounded_receive_awaiter(unbounded_channel<T>& target) noexcept : target_(&target) {}
  /// For an awaiter that has not started.
  unbounded_receive_awaiter(unbounded_receive_awaiter&& other) noexcept : target_(other.target_) {}

  bool await_ready() noexcept {
    detail::thread_context& context = detail::this_thread();
    if (detail::must_stop(context)) [[unlikely]]
      return false;
    const detail::channel_result result = target_->take(value_);
    if (result == detail::channel_result::done) [[likely]]
      return room_.ready(context);
    return result == detail::channel_result::closed;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (room_.gave_way(self.promise())) return true;
    return target_->wait(room_.build(static_cast<detail::unbounded_base&>(*target_), value_),
                         self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  std::optional<T> await_resume() {
    room_.throw_if_cancelled();
    if (!value_) return std::nullopt;
    return std::optional<T>(std::move(*value_));
  }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept { return target_->take(value_) != detail::channel_result::would_wait; }
  bool select_arm(detail::select_place& as) noexcept {
    return target_->arm(room_.branch(as, static_cast<detail::unbounded_base&>(*target_), value_));
  }
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept {
    room_.reset();
    value_.reset();
  }

 private:
  unbounded_channel<T>* target_;
  std::optional<T> value_;
  detail::waiter_room<detail::unbounded_receiver<T>> room_;
};

/// Awaiter of unbounded_channel::until_low().
class [[nodiscard]] TANDEM_API unbounded_low_awaiter {
 public:
  using tandem_awaiter = void;

  explicit unbounded_low_awaiter(detail::unbounded_base& target) noexcept : target_(&target) {}
  unbounded_low_awaiter(unbounded_low_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    return !detail::must_stop() && !target_->is_high() && room_.ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  void await_resume() const { room_.throw_if_cancelled(); }

  // As a branch of select() (protocol selecting).
  bool select_try() const noexcept { return !target_->is_high(); }
  bool select_arm(detail::select_place& as) noexcept;
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 private:
  bool start(detail::promise_base& waiting) noexcept;

  detail::unbounded_base* target_;
  detail::waiter_room<detail::waiter> room_;
};

/// A queue without a bound, whose sends never wait.
///
///     tandem::unbounded_channel<std::string> log(10'000, [](std::size_t) { ++alarms; });
///     log.send("started");                              // anywhere: no task is needed
///     while (auto line = co_await log.receive()) {      // the consumer, until closed and drained
///       print(*line);
///     }
///
/// Values come in the order of their sends; of receivers the one that waits longest is served
/// first. What moves a T must not throw nor use the channel. The memory grows by blocks of about
/// a KiB, and those that were emptied are given back.
///
/// It may be destroyed when all calls and awaits have returned; a send that did not call `on_high`
/// has, as far as that goes, as soon as its value was received.
///
/// @thread_safety  all members from any thread, by any number of tasks; all but the awaits also
///                 outside any task
template <class T>
class unbounded_channel : private detail::unbounded_base {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "a value in a channel is moved where others wait for that: moving must not throw");
  static_assert(alignof(T) <= 16, "a value aligned over 16 bytes has to live on the heap (g++ 12)");

 public:
  unbounded_channel() noexcept : unbounded_base(SIZE_MAX, nullptr) {}
  /// @param watermark  the channel is high when it has more values than that, until it has no more
  ///                   than half as many
  /// @param on_high    called with its size by the send that has made it high, on that one's
  ///                   thread; must not throw
  explicit unbounded_channel(std::size_t watermark,
                             std::function<void(std::size_t)> on_high = nullptr) noexcept
      : unbounded_base(watermark, std::move(on_high)) {}

  /// @throws  channel_closed, std::bad_alloc: then `value` is untouched
  /// @cost    a short lock and a move, and a block from time to time; if a receiver waits, one post
  void send(T&& value) {
    if (!put(value)) detail::throw_channel_closed();
  }
  void send(const T& value) {
    T copy(value);
    send(std::move(copy));
  }
  /// @returns  false if it is closed: then `value` is untouched
  /// @throws   std::bad_alloc: likewise
  bool try_send(T&& value) { return put(value); }
  bool try_send(const T& value) {
    T copy(value);
    return put(copy);
  }

  /// Waits for a value.
  ///
  /// @returns        the oldest one; nothing when the channel is closed and drained
  /// @throws         operation_cancelled if a stop comes while it waits, or came before
  /// @cancellation   may lose the race and return a value; none is ever lost. One that is ready may
  ///                 go through in a stopped task, up to 128 in a row
  /// @resumes_on     the caller's home
  /// @cost           a short lock and two moves; no allocation
  unbounded_receive_awaiter<T> receive() noexcept { return unbounded_receive_awaiter<T>(*this); }
  /// @returns  nothing if it is empty
  std::optional<T> try_receive() noexcept {
    std::optional<T> value;
    (void)take(value);
    return value;
  }

  /// No more values: sends are refused from now on; receives go on until it is drained. Again:
  /// nothing.
  void close() noexcept { unbounded_base::close(); }
  using unbounded_base::is_closed;

  /// Whether it has risen above its watermark, and not yet fallen to half of it.
  using unbounded_base::is_high;
  /// Waits until it is not high, or closed: for producers that can wait, from time to time.
  ///
  /// @throws         operation_cancelled if a stop comes while it waits, or came before
  /// @cancellation   may lose the race and return normally
  /// @resumes_on     the caller's home
  /// @cost           one load if it is not high; no allocation
  unbounded_low_awaiter until_low() noexcept { return unbounded_low_awaiter(*this); }

  /// Values in the queue; others may change it at the same time.
  using unbounded_base::size;
  unbounded_stats stats() noexcept {
    unbounded_stats now;
    const word drain_state = drain_word_.lock();
    const word state = word_.lock();
    note_size();
    now.size = size();
    now.largest_size = largest_;
    now.received = drained_.load(std::memory_order_relaxed) + handed_over_;
    now.memory_bytes = sent_.memory_bytes() + drain_.memory_bytes();
    now.waiting_receivers = receivers_.count();
    now.is_high = is_high();
    word_.unlock(state);
    drain_word_.unlock(drain_state);
    return now;
  }

  // Implementation
 private:
  friend unbounded_receive_awaiter<T>;
  using queue = detail::segment_queue<T>;
  using fresh_segment = typename queue::fresh_segment;
  using word = detail::lock_word::word;
  using waiting_receiver = detail::unbounded_receiver<T>;

  /// @returns  false if it is closed
  bool put(T& value) {
    fresh_segment fresh;
    while (true) {
      const word state = word_.lock();
      if ((state & closed) != 0) [[unlikely]] {
        word_.unlock(state);
        return false;
      }
      if (!receivers_.empty()) {
        if (detail::waiter* const served = receivers_.pop_front()) {  // waiting/grant
          note_sender();
          static_cast<waiting_receiver*>(served)->value->emplace(std::move(value));
          ++handed_over_;
          word_.unlock(state);  // waiting/unlock
          served->finish();
          return true;
        }
      }
      if (sent_.is_full()) [[unlikely]] {
        if (fresh == nullptr) {
          word_.unlock(state);
          fresh.reset(new typename queue::segment);
          continue;
        }
        note_size();  // so that the largest size is right to within a block
      }
      note_sender();
      sent_.push(value, fresh);
      const bool calls = grow();
      word_.unlock(state);  // waiting/unlock: from here on the channel may be gone
      if (calls) [[unlikely]]
        on_high_(size());
      return true;
    }
  }

  detail::channel_result take(std::optional<T>& into) noexcept {
    const bool was_closed = is_closed();  // first: what was sent before the close is seen
    const word drain_state = drain_word_.lock();
    if (drain_.empty()) {
      if (drain_is_dry()) {
        drain_word_.unlock(drain_state);
        return was_closed ? detail::channel_result::closed : detail::channel_result::would_wait;
      }
      const word state = word_.lock();
      refill();
      word_.unlock(state);
    }
    pop(into, drain_state);
    return detail::channel_result::done;
  }
  /// Under both locks, with an empty drain: takes over all that was sent, and gives an empty
  /// segment for it.
  void refill() noexcept {
    note_size();
    drain_.swap(sent_);
  }
  /// Under the drain's lock, which it releases.
  void pop(std::optional<T>& into, word drain_state) noexcept {
    const fresh_segment emptied = drain_.pop(into);
    note_drained();
    drain_word_.unlock(drain_state);
    if (may_fall()) [[unlikely]]
      relieve();
  }
  /// What await_suspend returns.
  TANDEM_NOINLINE bool wait(waiting_receiver& self, detail::promise_base& waiting) noexcept {
    if (!self.begin(waiting)) return false;  // waiting/publish
    const word drain_state = drain_word_.lock();
    const word state = word_.lock();
    if (!self.may_queue()) {  // waiting/queue
      word_.unlock(state);
      drain_word_.unlock(drain_state);
      return self.give_up();
    }
    if (must_wait(state)) {
      receivers_.push_back(self);
      drain_word_.unlock(drain_state);  // first: as soon as the word is free we may be gone
      word_.unlock(state);
      return true;
    }
    take_under_locks(self, state, drain_state);
    return self.go_on();
  }
  /// selecting/arm. The word's lock guards the list, and what is sent; so the look is under both.
  /// @returns whether it has come to an end
  TANDEM_NOINLINE bool arm(waiting_receiver& self) noexcept {
    const word drain_state = drain_word_.lock();
    const word state = word_.lock();
    if (must_wait(state)) {
      receivers_.enter(self);
      drain_word_.unlock(drain_state);
      word_.unlock(state);
      return false;
    }
    take_under_locks(self, state, drain_state);
    return true;
  }
  /// Under both locks: nothing is there, nor the end.
  bool must_wait(word state) noexcept {
    if (drain_.empty()) refill();
    return drain_.empty() && (state & closed) == 0;
  }
  /// Under both locks, which it releases: takes the oldest value, or the end.
  void take_under_locks(waiting_receiver& self, word state, word drain_state) noexcept {
    self.take();
    word_.unlock(state);
    if (drain_.empty()) {
      drain_word_.unlock(drain_state);
    } else {
      pop(*self.value, drain_state);
    }
  }

  queue drain_;  // received next; under the drain's lock
  char apart_[64] = {};
  queue sent_;  // after those; under the word's lock
};

}  // namespace tandem::inline v0
