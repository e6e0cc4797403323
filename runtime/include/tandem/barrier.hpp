// barrier.hpp: a number of tasks that wait for each other, again and again.
// SPDX-License-Identifier: MIT
//
// A phase ends when as many have arrived as are expected. Who was stopped has not arrived: its
// arrival is taken back, under the lock under which phases end, so either it counted and the await
// returns, or it did not and the others go on waiting for it. So that they do not wait for ever for
// a task that has ended, a barrier_seat leaves the barrier when it goes.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/wait_list.hpp>

namespace tandem::inline v0 {

class barrier;
class barrier_awaiter;
class barrier_seat;

namespace detail {

class TANDEM_API barrier_waiter : public waiter {
 public:
  explicit barrier_waiter(barrier& target) noexcept;
  bool leads = false;  // under the barrier's lock; read after the wait

 private:
  static bool on_stop(stop_waiter& self) noexcept;
  static void describe(const stop_waiter& wait, wait_note& note) noexcept;
  static const wait_kind waits_for_others;
  barrier* target_;
};

}  // namespace detail

/// Lets those that arrive go on together, phase after phase.
///
///     tandem::barrier all(4, [&] { swap(board, next); });   // between two generations
///     ...
///     const auto seat = all.seat();   // in each of four tasks
///     for (int i = 0; i < generations; ++i) {
///       compute(board, next, part);
///       co_await seat.arrive_and_wait();
///     }
///
/// Each of the expected arrives once a phase. What happened before the arrivals has happened for
/// the completion, and what that did for all that go on. It may be destroyed as soon as all waits
/// have returned, if nobody else arrives.
///
/// @thread_safety  all members from any thread; arrive_and_drop() also outside any task
class TANDEM_API barrier {
 public:
  static constexpr std::size_t max = detail::lock_word::max_value;

  /// @param expected    how many arrive in each phase
  /// @param completion  called at the end of each phase by the last that arrives, on its thread,
  ///                    before anybody goes on; it must not throw, nor use the barrier
  explicit barrier(std::size_t expected, std::function<void()> completion = {});
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  ~barrier();

  /// Arrives, and waits until all that are expected have.
  ///
  /// @returns        true for one of them in each phase, the last that arrived, which may do what
  ///                 has to be done once; if the last one dropped out, for the oldest
  /// @throws         operation_cancelled if a stop comes while it waits, or came before: then it
  ///                 has not arrived, and the others wait for it to come again or to drop out
  /// @cancellation   may lose the race and return normally, with the phase at its end
  /// @resumes_on     the caller's home
  /// @cost           a short lock; the last one posts all others, in one batch for each run of
  ///                 waiters with the same home. No allocation
  barrier_awaiter arrive_and_wait() noexcept;

  /// Arrives without waiting, and is not expected in later phases.
  ///
  /// @cost  a short lock; the last one posts the others
  void arrive_and_drop() noexcept;

  /// The place of one of those that are expected: an object that drops out when it goes.
  barrier_seat seat() noexcept;

  // Implementation
 private:
  friend barrier_awaiter;
  friend detail::barrier_waiter;
  /// @returns  whether the caller was the last, and has ended the phase
  bool arrive_if_last() noexcept;
  /// Under lock_ and the word's: takes all that wait, and begins a phase. Unlocks the word.
  detail::waiter* end_phase() noexcept;
  /// After both were unlocked. From here on the barrier may be gone.
  void let_go(detail::waiter* all) noexcept;

  detail::lock_word word_;  // its value: how many have arrived; guards waiting_
  /// Around the word's lock: arrivals, ends of phases, and arrivals that are taken back.
  detail::futex_mutex lock_;
  std::atomic<std::size_t> expected_;  // under lock_; read by looks
  detail::wait_list waiting_;
  const std::function<void()> completion_;
};

/// Awaiter of barrier::arrive_and_wait().
class [[nodiscard]] TANDEM_API barrier_awaiter {
 public:
  using tandem_awaiter = void;

  explicit barrier_awaiter(barrier& target) noexcept : target_(&target) {}
  barrier_awaiter(barrier_awaiter&&) noexcept = default;

  bool await_ready() noexcept {
    leads_ = !detail::must_stop() && target_->arrive_if_last();
    return leads_ && room_.ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  bool await_resume() {
    room_.throw_if_cancelled();
    return leads_ || (room_.has_waited() && room_.get().leads);
  }

 private:
  bool start(detail::promise_base& waiting) noexcept;

  barrier* target_;
  bool leads_ = false;
  detail::waiter_room<detail::barrier_waiter> room_;
};

/// One of those that a barrier expects; it drops out when it goes, also by an exception or a stop,
/// and the others go on without it. A task that was cancelled before it began keeps its arguments,
/// and a seat among them, until its join_handle goes.
///
/// @thread_safety  as a value
class [[nodiscard]] barrier_seat {
 public:
  explicit barrier_seat(barrier& of) noexcept : of_(&of) {}
  barrier_seat(barrier_seat&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  barrier_seat& operator=(barrier_seat&& other) noexcept {
    barrier_seat moved(std::move(other));
    std::swap(of_, moved.of_);
    return *this;
  }
  ~barrier_seat() { drop(); }

  /// As barrier::arrive_and_wait(). pre: it has not dropped out
  barrier_awaiter arrive_and_wait() const noexcept {
    TANDEM_ASSERT(of_ != nullptr, "a barrier_seat was used that had dropped out");
    return barrier_awaiter(*of_);
  }
  /// Early; nothing if it has dropped out.
  void drop() noexcept {
    if (of_ != nullptr) std::exchange(of_, nullptr)->arrive_and_drop();
  }

 private:
  barrier* of_;
};

inline barrier_awaiter barrier::arrive_and_wait() noexcept { return barrier_awaiter(*this); }
inline barrier_seat barrier::seat() noexcept { return barrier_seat(*this); }

}  // namespace tandem::inline v0
