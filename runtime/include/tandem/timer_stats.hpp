// timer_stats.hpp: what the timers of a runtime have done so far.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tandem::inline v0 {

/// A sleep, a time limit, a tick of an interval: each is a timer while it waits.
/// runtime_metrics::timers.
///
/// Each number is exact, and together they fit: started is armed + fired + stopped.
class timer_stats {
 public:
  timer_stats() noexcept = default;

  std::size_t armed = 0;      ///< that wait for their time now
  std::uint64_t started = 0;  ///< in all
  std::uint64_t fired = 0;
  std::uint64_t stopped = 0;  ///< before their time: what they limited has ended, or was cancelled
  /// By how much those that fired were late, in all: until a driver took them, not until their task
  /// ran.
  std::chrono::nanoseconds lateness{};
  std::uint64_t wakes =
      0;  ///< of a sleeping driver, for a deadline before the one that it slept for
};

}  // namespace tandem::inline v0
