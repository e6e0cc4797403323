// interval.cpp: which tick comes next.
// SPDX-License-Identifier: MIT
#include <tandem/interval.hpp>

#include <stdexcept>

namespace tandem::inline v0 {

namespace {

interval::duration checked(interval::duration period) {
  if (period <= period.zero()) {
    throw std::invalid_argument("tandem::interval: the period has to be above zero");
  }
  return period;
}

/// Far in the future stays there: `at + period` without overflow.
interval::time_point after(interval::time_point at, interval::duration period) noexcept {
  return at > interval::time_point() && period > at.max() - at ? at.max() : at + period;
}

}  // namespace

interval::interval(duration period, missed_ticks policy)
    : period_(checked(period)), next_(after(tandem::now(), period)), policy_(policy) {}

interval::interval(duration period, time_point first, missed_ticks policy)
    : period_(checked(period)), next_(first), policy_(policy) {}

void interval::reset() noexcept { next_ = after(tandem::now(), period_); }

interval::time_point interval::ticked() noexcept {
  const time_point due = next_;
  next_ = after(due, period_);
  if (policy_ == missed_ticks::burst) return due;
  const time_point now = tandem::now();
  if (now < next_) return due;
  // A tick that is late by less than a period has missed nothing.
  if (policy_ == missed_ticks::delay) {
    next_ = after(now, period_);
  } else {
    // As far behind as to overflow: any grid will do, so one that begins at the epoch.
    const time_point from = due < time_point() && now > time_point::max() + due.time_since_epoch()
                                ? time_point(due.time_since_epoch() % period_)
                                : due;
    next_ = after(now - (now - from) % period_, period_);
  }
  return due;
}

}  // namespace tandem::inline v0
