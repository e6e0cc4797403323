// channel_core.hpp: a channel: its ring without a lock, and its waiters under one.
// SPDX-License-Identifier: MIT
//
// Protocol channels, runtime/src/sync/README.md. The word's lowest bit says "closed".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/channel_ring.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0::detail {

enum class channel_result : unsigned char { done, would_wait, closed };

class channel_base;

class TANDEM_API channel_waiter : public waiter {
 public:
  channel_waiter(const wait_kind& kind, const channel_base& target, lock_word& lock,
                 wait_list& list) noexcept
      : waiter(kind, lock, list), of(&target) {}

  static void describe(const stop_waiter& wait, wait_note& note) noexcept;

  const channel_base* const of;
  bool closed = false;  // set under the lock by close(), read after the resume
};

/// The waiters of a channel: the part that does not depend on the values.
class TANDEM_API channel_base : public basic_ring_ends<std_atomics> {
 public:
  void close() noexcept;
  bool is_closed() const noexcept { return is_closed(word_.load()); }
  std::size_t count_senders() noexcept { return count(senders_); }
  std::size_t count_receivers() noexcept { return count(receivers_); }

 protected:
  template <class>
  friend class channel_sender;
  template <class>
  friend class channel_receiver;
  friend class channel_waiter;

  explicit channel_base(std::size_t capacity) noexcept : basic_ring_ends(capacity), word_(0) {}
  ~channel_base() = default;

  static bool is_closed(lock_word::word state) noexcept { return (state & lock_word::one) != 0; }
  static std::uint64_t task_of(const thread_context& of) noexcept {
    return environment::task_id(of.env);
  }
  static std::uint64_t this_task() noexcept { return task_of(this_thread()); }
  static std::uint64_t task_of(const waiter& of) noexcept {
    return environment::task_id(of.waiting().env);
  }
  /// channels/busy. Lets whoever has claimed a slot get on.
  static void give_way(unsigned& rounds) noexcept;
  std::size_t count(const wait_list& list) noexcept;

  lock_word word_;
  // Under the lock.
  wait_list senders_;
  wait_list receivers_;
};

TANDEM_API extern const wait_kind waits_for_room;
TANDEM_API extern const wait_kind waits_for_value;

/// A send that waits. Its value is moved out under the lock by whoever takes it out of the list.
template <class T>
class channel_sender final : public channel_waiter {
 public:
  channel_sender(channel_base& target, T& v) noexcept
      : channel_waiter(waits_for_room, target, target.word_, target.senders_),
        value(std::addressof(v)) {}
  T* value;
};

/// A receive that waits. Its value is built under the lock by whoever takes it out of the list.
template <class T>
class channel_receiver final : public channel_waiter {
 public:
  channel_receiver(channel_base& target, std::optional<T>& v) noexcept
      : channel_waiter(waits_for_value, target, target.word_, target.receivers_), value(&v) {}
  std::optional<T>* value;
};

template <class T>
class channel_core final : public basic_channel_ring<std_atomics, T, channel_base> {
  using ring = basic_channel_ring<std_atomics, T, channel_base>;
  using ticket = typename ring::ticket;
  using ring::give_way;
  using ring::receivers_;
  using ring::senders_;
  using ring::task_of;
  using ring::this_task;
  using ring::word_;

 public:
  using ring::capacity;
  using ring::ring;

  channel_result try_put(T& value, const thread_context& context) noexcept {
    const auto nothing = [](lock_word::word&) { return true; };
    return put_full(value, context, nothing, false);
  }

  /// For senders that cannot wait. If there is no room (would_wait), the oldest value is moved to
  /// `displaced` and gives its place; with capacity 0 there is none.
  channel_result put_over(T& value, std::optional<T>& displaced) noexcept {
    const auto replace = [&](lock_word::word&) {
      return capacity() == 0 || ring::rotate(displaced, value);
    };
    return put_full(value, this_thread(), replace, true);
  }
  /// Likewise. If there is no room (would_wait), the channel is closed, and `was_full` set before
  /// anybody sees that.
  channel_result put_or_close(T& value, bool& was_full) noexcept {
    const auto shut = [&](lock_word::word& state) {
      was_full = true;
      ring::close_tail();
      state |= lock_word::one;
      return true;
    };
    return put_full(value, this_thread(), shut, true);
  }

  channel_result try_take(std::optional<T>& into, const thread_context& context) noexcept {
    ticket got;
    const ring_look found = ring::claim_receive(got);
    if (found == ring_look::claimed) [[likely]] {
      drain(got, into, task_of(context));
      return channel_result::done;
    }
    return found == ring_look::none ? channel_result::would_wait : take_slowly(into);
  }

  /// What await_suspend returns.
  TANDEM_NOINLINE bool wait_to_send(channel_sender<T>& self, promise_base& waiting) noexcept {
    const auto attempt = [&](lock_word::word state, step& next) {
      put(state, *self.value, true, next);
    };
    const auto move = [&](const ticket& got) { fill(got, *self.value, this_task()); };
    return wait(self, senders_, waiting, attempt, move);
  }
  TANDEM_NOINLINE bool wait_to_receive(channel_receiver<T>& self, promise_base& waiting) noexcept {
    const auto attempt = [&](lock_word::word state, step& next) {
      take(state, *self.value, true, next);
    };
    const auto move = [&](const ticket& got) { drain(got, *self.value, this_task()); };
    return wait(self, receivers_, waiting, attempt, move);
  }

  /// selecting/arm. @returns whether it has come to an end
  TANDEM_NOINLINE bool arm_send(channel_sender<T>& self) noexcept {
    return arm(
        self, senders_,
        [&](lock_word::word state, step& next) { put(state, *self.value, true, next); },
        [&](const ticket& got) { fill(got, *self.value, this_task()); });
  }
  TANDEM_NOINLINE bool arm_receive(channel_receiver<T>& self) noexcept {
    return arm(
        self, receivers_,
        [&](lock_word::word state, step& next) { take(state, *self.value, true, next); },
        [&](const ticket& got) { drain(got, *self.value, this_task()); });
  }

 private:
  // moves: a position is claimed, and the value moves when the lock is released. busy: once more,
  // after a while without the lock.
  enum class outcome : unsigned char { done, moves, would_wait, closed, busy };
  /// What an operation has come to under the lock.
  struct step {
    outcome is = outcome::busy;
    ticket got;
    waiter* served = nullptr;  // the other side's, whose await has ended
  };

  static outcome outcome_of(ring_look found) noexcept {
    if (found == ring_look::claimed) return outcome::moves;
    return found == ring_look::none ? outcome::would_wait : outcome::busy;
  }
  static channel_result result_of(outcome of) noexcept {
    if (of == outcome::would_wait) return channel_result::would_wait;
    return of == outcome::closed ? channel_result::closed : channel_result::done;
  }

  TANDEM_ALWAYS_INLINE void fill(const ticket& got, T& value, std::uint64_t task) noexcept {
    ring::note_sender(task);
    ring::fill(got, value);  // waiting/unlock: from here on the channel may be gone
  }
  TANDEM_ALWAYS_INLINE void drain(const ticket& got, std::optional<T>& into,
                                  std::uint64_t task) noexcept {
    ring::note_receiver(task);
    ring::drain(got, into);
  }

  template <class Try, class Move>
  bool wait(channel_waiter& self, wait_list& list, promise_base& waiting, Try attempt,
            Move move) noexcept {
    if (!self.begin(waiting)) return false;  // waiting/publish
    for (unsigned rounds = 0;; give_way(rounds)) {
      const lock_word::word state = word_.lock();
      if (!self.may_queue()) {  // waiting/queue
        word_.unlock(state);
        return self.give_up();
      }
      step next;
      attempt(state, next);
      if (next.is == outcome::busy) {
        word_.unlock(state);
        continue;
      }
      if (next.is == outcome::would_wait) {
        list.push_back(self);
        word_.unlock(state);
        return true;
      }
      self.closed = next.is == outcome::closed;
      self.take();
      word_.unlock(state);
      if (next.is == outcome::moves) move(next.got);
      if (next.served != nullptr) next.served->finish();
      return self.go_on();
    }
  }

  template <class Try, class Move>
  bool arm(channel_waiter& self, wait_list& list, Try attempt, Move move) noexcept {
    for (unsigned rounds = 0;; give_way(rounds)) {
      const lock_word::word state = word_.lock();
      step next;
      attempt(state, next);
      if (next.is == outcome::busy) {
        word_.unlock(state);
        continue;
      }
      if (next.is == outcome::would_wait) {
        list.enter(self);
        word_.unlock(state);
        return false;
      }
      self.closed = next.is == outcome::closed;
      self.take();
      word_.unlock(state);
      if (next.is == outcome::moves) move(next.got);
      if (next.served != nullptr) next.served->finish();
      return true;
    }
  }

  /// @param full   what happens under the lock if there is no room, and nobody waits to receive. It
  ///               may change the word's state. @returns false: once more, the oldest value has not
  ///               quite come
  /// @param holds  whether the ring has to stay full while that happens; else it need not happen
  template <class Full>
  TANDEM_ALWAYS_INLINE channel_result put_full(T& value, const thread_context& context, Full full,
                                               bool holds) noexcept {
    ticket got;
    const ring_look found = ring::claim_send(got);
    if (found == ring_look::claimed) [[likely]] {
      fill(got, value, task_of(context));
      return channel_result::done;
    }
    if (found == ring_look::none && !holds) return channel_result::would_wait;
    return put_slowly(value, full, holds);
  }
  template <class Full>
  TANDEM_NOINLINE channel_result put_slowly(T& value, Full full, bool holds) noexcept {
    for (unsigned rounds = 0;; give_way(rounds)) {
      lock_word::word state = word_.lock();
      step next;
      put(state, value, holds, next);
      if (next.is == outcome::would_wait && !full(state)) next.is = outcome::busy;
      word_.unlock(state);  // waiting/unlock: where no position is claimed the channel may be gone
      if (next.is == outcome::busy) continue;
      if (next.is == outcome::moves) fill(next.got, value, this_task());
      if (next.served != nullptr) next.served->finish();
      return result_of(next.is);
    }
  }
  TANDEM_NOINLINE channel_result take_slowly(std::optional<T>& into) noexcept {
    for (unsigned rounds = 0;; give_way(rounds)) {
      const lock_word::word state = word_.lock();
      step next;
      take(state, into, false, next);
      word_.unlock(state);
      if (next.is == outcome::busy) continue;
      if (next.is == outcome::moves) drain(next.got, into, this_task());
      if (next.served != nullptr) next.served->finish();
      return result_of(next.is);
    }
  }

  // The following run under the lock. `holds`: if the caller has to wait, nobody gets past it from
  // then on (channels/hold).

  void put(lock_word::word state, T& value, bool holds, step& next) noexcept {
    if (ring::is_closed(state)) [[unlikely]] {
      next.is = outcome::closed;
    } else if ((next.served = receivers_.pop_front()) != nullptr) {  // waiting/grant
      ring::note_sender(this_task());
      ring::note_receiver(task_of(*next.served));
      static_cast<channel_receiver<T>*>(next.served)->value->emplace(std::move(value));
      if (receivers_.empty() && capacity() != 0) ring::let_go_empty();
      next.is = outcome::done;
    } else if (capacity() == 0) {
      next.is = outcome::would_wait;
    } else {
      if (ring::is_held_empty()) ring::let_go_empty();  // whoever waited there was stopped
      ring_look found = ring::claim_send(next.got);
      while (found == ring_look::none && holds && !ring::hold_full()) {
        found = ring::claim_send(next.got);
      }
      next.is = outcome_of(found);
    }
  }

  void take(lock_word::word state, std::optional<T>& into, bool holds, step& next) noexcept {
    if (capacity() != 0 && ring::is_held_empty()) {  // as it was left, and so nobody waits to send
      next.is = ring::is_closed(state) ? outcome::closed : outcome::would_wait;
      return;
    }
    while (waiter* const oldest = senders_.front()) {
      if (capacity() != 0 && !ring::oldest_has_come()) return;  // busy
      if (!senders_.take(*oldest)) continue;                    // waiting/grant
      T& value = *static_cast<channel_sender<T>*>(oldest)->value;
      if (capacity() == 0) {
        into.emplace(std::move(value));
      } else {
        (void)ring::rotate(into, value);
      }
      ring::note_receiver(this_task());
      next.served = oldest;
      ring::note_sender(task_of(*next.served));
      if (senders_.empty() && capacity() != 0) ring::let_go_full();
      next.is = outcome::done;
      return;
    }
    ring_look found = ring_look::none;
    if (capacity() != 0) {
      if (ring::is_held_full()) ring::let_go_full();  // whoever waited there was stopped
      found = ring::claim_receive(next.got);
      while (found == ring_look::none && holds && !ring::hold_empty()) {
        found = ring::claim_receive(next.got);
      }
    }
    if (found == ring_look::ended) found = ring_look::none;
    next.is = outcome_of(found);
    if (next.is == outcome::would_wait && ring::is_closed(state)) next.is = outcome::closed;
  }
};

}  // namespace tandem::inline v0::detail
