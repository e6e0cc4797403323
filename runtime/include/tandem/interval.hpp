// interval.hpp: points in time at equal distances.
// SPDX-License-Identifier: MIT
//
// The ticks lie on a grid: each is a period after the one before, whatever the time between the two
// waits was spent on, so nothing drifts. What happens to ticks that came while nobody waited is up
// to the policy (after Tokio's MissedTickBehavior).
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>

#include <tandem/clock.hpp>
#include <tandem/sleep.hpp>

namespace tandem::inline v0 {

/// What becomes of ticks that nobody waited for in time.
enum class missed_ticks : std::uint8_t {
  burst,  ///< all are made up for, one right after the other: as many ticks as periods
  delay,  ///< the late one begins a new grid: never two in less than a period
  skip,   ///< those that are over are left out: the next one is on the grid
};

class interval;

/// Awaiter of interval::tick().
class [[nodiscard]] tick_awaiter : private sleep_awaiter {
 public:
  using tandem_awaiter = void;

  explicit tick_awaiter(interval& source) noexcept;

  using sleep_awaiter::await_ready;
  using sleep_awaiter::await_suspend;
  std::chrono::steady_clock::time_point await_resume() const;

  // As a branch of select() (protocol selecting): again and again.
  using sleep_awaiter::select_disarm;
  bool select_try() noexcept {
    aim_anew();
    return sleep_awaiter::select_try();
  }
  bool select_arm(detail::select_place& as) noexcept {
    aim_anew();
    return sleep_awaiter::select_arm(as);
  }
  void select_reset() noexcept;

 private:
  /// The interval may have been reset between two turns of a selector.
  void aim_anew() noexcept;

  interval* source_;
  std::chrono::steady_clock::time_point aimed_at_;
};

/// Ticks at equal distances.
///
///     tandem::interval every(100ms);
///     while (true) {
///       co_await every.tick();
///       report();
///     }
///
/// @thread_safety  one task at a time; it stays where it is while somebody waits for a tick
class TANDEM_API interval {
 public:
  using duration = std::chrono::steady_clock::duration;
  using time_point = std::chrono::steady_clock::time_point;

  /// The first tick comes after one period, by tandem::now(): made by a task it goes by the clock
  /// of its runtime.
  ///
  /// @throws  std::invalid_argument unless the period is above zero
  explicit interval(duration period, missed_ticks policy = missed_ticks::burst);
  /// The first tick comes at `first`; one that is over is a missed one.
  ///
  /// @throws  std::invalid_argument unless the period is above zero
  interval(duration period, time_point first, missed_ticks policy = missed_ticks::burst);

  /// Waits for the next tick. One that is due already gives way to other tasks once.
  ///
  /// @returns        the point in time for which the tick was set
  /// @throws         operation_cancelled if a stop was requested first
  /// @cancellation   loses no tick: the next call waits for the same one
  /// @resumes_on     its home
  /// @cost           that of sleep_until()
  tick_awaiter tick() noexcept { return tick_awaiter(*this); }

  /// The next tick is a period from now; not while somebody waits for a tick.
  void reset() noexcept;
  /// The next tick is at `next`.
  void reset_at(time_point next) noexcept { next_ = next; }

  duration period() const noexcept { return period_; }
  missed_ticks policy() const noexcept { return policy_; }
  /// For when the next tick is set.
  time_point next() const noexcept { return next_; }

  // Implementation
 private:
  friend class tick_awaiter;
  /// @returns  for when the tick was set that has come
  time_point ticked() noexcept;

  duration period_;
  time_point next_;
  missed_ticks policy_;
};

inline tick_awaiter::tick_awaiter(interval& source) noexcept
    : sleep_awaiter(source.next_ <= tandem::now() ? (interval::time_point::min)() : source.next_),
      source_(&source),
      aimed_at_(source.next_) {}

inline void tick_awaiter::aim_anew() noexcept {
  if (source_->next_ == aimed_at_) return;
  aimed_at_ = source_->next_;
  aim(aimed_at_);
}

inline void tick_awaiter::select_reset() noexcept {
  sleep_awaiter::select_reset();
  aimed_at_ = source_->next_;
  aim(aimed_at_);
}

inline std::chrono::steady_clock::time_point tick_awaiter::await_resume() const {
  sleep_awaiter::await_resume();
  return source_->ticked();
}

}  // namespace tandem::inline v0
