// channel_core.hpp: the ring and the waiters of a channel, and what happens under its lock.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0::detail {

enum class channel_result : unsigned char { done, would_wait, closed };

class channel_base;

class TANDEM_API channel_waiter : public waiter {
 public:
  channel_waiter(const wait_kind& kind, channel_base& target, wait_list& list) noexcept;

  static void describe(const stop_waiter& wait, wait_note& note) noexcept;

  const channel_base* const of;
  bool closed = false;  // set under the lock by close(), read after the resume
};

/// The part of a channel that does not depend on the values.
class TANDEM_API channel_base {
 public:
  explicit channel_base(std::size_t capacity) noexcept : word_(0), capacity_(capacity) {}
  channel_base(const channel_base&) = delete;
  channel_base& operator=(const channel_base&) = delete;

  void close() noexcept;
  bool is_closed() const noexcept { return is_closed(word_.load()); }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t size() const noexcept;

 protected:
  template <class>
  friend class channel_sender;
  template <class>
  friend class channel_receiver;
  friend class channel_waiter;

  static bool is_closed(lock_word::word state) noexcept { return (state & lock_word::one) != 0; }
  std::size_t wrapped(std::size_t index) const noexcept {
    return index >= capacity_ ? index - capacity_ : index;
  }

  mutable lock_word word_;
  // Under the lock.
  const std::size_t capacity_;
  std::size_t head_ = 0;  // the oldest value
  std::size_t size_ = 0;
  // Ids of tasks, for people who ask why nobody puts or takes; 0: outside of any task.
  std::uint64_t last_sender_ = 0;
  std::uint64_t last_receiver_ = 0;
  wait_list senders_;
  wait_list receivers_;

  static std::uint64_t this_task() noexcept { return environment::task_id(this_thread().env); }
  static std::uint64_t task_of(const waiter& of) noexcept {
    return environment::task_id(of.waiting().env);
  }
};

TANDEM_API extern const wait_kind waits_for_room;
TANDEM_API extern const wait_kind waits_for_value;

/// A send that waits. Its value is moved out under the lock by whoever takes it out of the list.
template <class T>
class channel_sender final : public channel_waiter {
 public:
  channel_sender(channel_base& target, T& v) noexcept
      : channel_waiter(waits_for_room, target, target.senders_), value(std::addressof(v)) {}
  T* value;
};

/// A receive that waits. Its value is built under the lock by whoever takes it out of the list.
template <class T>
class channel_receiver final : public channel_waiter {
 public:
  channel_receiver(channel_base& target, std::optional<T>& v) noexcept
      : channel_waiter(waits_for_value, target, target.receivers_), value(&v) {}
  std::optional<T>* value;
};

template <class T>
class channel_core : public channel_base {
 public:
  explicit channel_core(std::size_t capacity)
      : channel_base(capacity), ring_(capacity != 0 ? new slot[capacity] : nullptr) {}
  ~channel_core() {
    while (size_ != 0) drop_oldest();
  }

  channel_result try_put(T& value) noexcept {
    return put_full(value, [](lock_word::word state) { return state; });
  }

  /// For senders that cannot wait. If there is no room (would_wait), the oldest value is moved to
  /// `displaced` and gives its place; with capacity 0 there is none.
  channel_result put_over(T& value, std::optional<T>& displaced) noexcept {
    return put_full(value, [&](lock_word::word state) {
      if (size_ == 0) return state;
      displaced.emplace(std::move(ring_[head_].value));
      drop_oldest();
      push(value);
      return state;
    });
  }
  /// Likewise. If there is no room (would_wait), the channel is closed, and `was_full` set before
  /// anybody sees that.
  channel_result put_or_close(T& value, bool& was_full) noexcept {
    return put_full(value, [&](lock_word::word state) {
      was_full = true;
      return state | lock_word::one;
    });
  }

  channel_result try_take(std::optional<T>& into) noexcept {
    const lock_word::word state = word_.lock();
    waiter* served = nullptr;
    const channel_result result = take(state, into, served);
    word_.unlock(state);  // waiting/unlock
    if (served != nullptr) served->finish();
    return result;
  }

  /// What await_suspend returns.
  TANDEM_NOINLINE bool wait_to_send(channel_sender<T>& self, promise_base& waiting) noexcept {
    return wait(self, senders_, waiting, [&](lock_word::word state, waiter*& served) {
      return put(state, *self.value, served);
    });
  }
  TANDEM_NOINLINE bool wait_to_receive(channel_receiver<T>& self, promise_base& waiting) noexcept {
    return wait(self, receivers_, waiting, [&](lock_word::word state, waiter*& served) {
      return take(state, *self.value, served);
    });
  }

 private:
  union slot {
    slot() noexcept {}   // NOLINT: the value comes later
    ~slot() noexcept {}  // NOLINT: and is gone before
    T value;
  };

  template <class Try>
  bool wait(channel_waiter& self, wait_list& list, promise_base& waiting, Try attempt) noexcept {
    if (!self.begin(waiting)) return false;  // waiting/publish
    const lock_word::word state = word_.lock();
    if (!self.may_queue()) {  // waiting/queue
      word_.unlock(state);
      return self.give_up();
    }
    waiter* served = nullptr;
    const channel_result result = attempt(state, served);
    if (result == channel_result::would_wait) {
      list.push_back(self);
      word_.unlock(state);
      return true;
    }
    self.closed = result == channel_result::closed;
    self.take();
    word_.unlock(state);
    if (served != nullptr) served->finish();
    return self.go_on();
  }

  /// @param full  what happens under the lock if there is no room: gets the state, returns the new
  ///              one. Then nobody waits to receive
  template <class Full>
  channel_result put_full(T& value, Full full) noexcept {
    lock_word::word state = word_.lock();
    waiter* served = nullptr;
    const channel_result result = put(state, value, served);
    if (result == channel_result::would_wait) state = full(state);
    word_.unlock(state);  // waiting/unlock: from here on the channel may be gone
    if (served != nullptr) served->finish();
    return result;
  }

  // The following run under the lock. `served` is the other side's waiter whose await has ended.
  channel_result put(lock_word::word state, T& value, waiter*& served) noexcept {
    if (is_closed(state)) [[unlikely]]
      return channel_result::closed;
    if (!receivers_.empty()) {
      last_sender_ = this_task();
      served = receivers_.pop_front();  // waiting/grant
      last_receiver_ = task_of(*served);
      static_cast<channel_receiver<T>*>(served)->value->emplace(std::move(value));
      return channel_result::done;
    }
    if (size_ == capacity_) return channel_result::would_wait;
    last_sender_ = this_task();
    push(value);
    return channel_result::done;
  }

  channel_result take(lock_word::word state, std::optional<T>& into, waiter*& served) noexcept {
    if (size_ != 0) [[likely]] {
      into.emplace(std::move(ring_[head_].value));
      drop_oldest();
      last_receiver_ = this_task();
      if (!senders_.empty()) {
        served = senders_.pop_front();  // waiting/grant
        last_sender_ = task_of(*served);
        push(*static_cast<channel_sender<T>*>(served)->value);
      }
      return channel_result::done;
    }
    if (!senders_.empty()) {  // capacity 0
      last_receiver_ = this_task();
      served = senders_.pop_front();
      last_sender_ = task_of(*served);
      into.emplace(std::move(*static_cast<channel_sender<T>*>(served)->value));
      return channel_result::done;
    }
    return is_closed(state) ? channel_result::closed : channel_result::would_wait;
  }

  void push(T& value) noexcept {
    std::construct_at(std::addressof(ring_[wrapped(head_ + size_)].value), std::move(value));
    ++size_;
  }
  void drop_oldest() noexcept {
    std::destroy_at(std::addressof(ring_[head_].value));
    head_ = wrapped(head_ + 1);
    --size_;
  }

  std::unique_ptr<slot[]> ring_;
};

}  // namespace tandem::inline v0::detail
