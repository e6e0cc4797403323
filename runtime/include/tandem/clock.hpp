// clock.hpp: what time it is for a task.
// SPDX-License-Identifier: MIT
//
// Everything of tandem that takes time asks this clock: the steady clock, but for tasks of a
// runtime with a virtual one.
#pragma once

#include <chrono>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// The time by the clock of the runtime that the calling task belongs to; outside any task
/// std::chrono::steady_clock::now().
///
///     const auto began = tandem::now();
///
/// @thread_safety  any thread
/// @cost           that of std::chrono::steady_clock::now()
TANDEM_API std::chrono::steady_clock::time_point now() noexcept;

namespace detail {

/// `limit` from now. Limits beyond the clock's range mean "for ever", negative ones "now".
template <class Rep, class Period>
std::chrono::steady_clock::time_point deadline_after(
    std::chrono::duration<Rep, Period> limit) noexcept {
  using steady = std::chrono::steady_clock;
  const auto began = tandem::now();
  if (!(limit > limit.zero())) return began;  // NaN, too
  const steady::duration room = (steady::time_point::max)() - began;
  // Roughly first, by doubles, since any unit may be given; what passes fits into the clock's
  // range, a double's rounding apart, which is why the comparison that decides is one of whole
  // numbers.
  using seconds = std::chrono::duration<long double>;
  if (seconds(limit) >= seconds((steady::duration::max)())) return (steady::time_point::max)();
  const auto exact = std::chrono::ceil<steady::duration>(limit);
  return exact >= room ? (steady::time_point::max)() : began + exact;
}

}  // namespace detail
}  // namespace tandem::inline v0
