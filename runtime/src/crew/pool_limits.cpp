// pool_limits.cpp: the limits, and how long whoever is idle may stay.
// SPDX-License-Identifier: MIT
#include "crew/pool_limits.hpp"

#include <algorithm>

#include "platform/futex.hpp"

namespace tandem::inline v0::detail {

pool_limits::pool_limits(const pool_options& options) noexcept
    : core_(std::max(1U, options.min_threads)),
      stay_(options.allow_core_timeout ? 0 : core()),
      growth_(options.growth),
      keep_alive_(options.keep_alive) {}

void pool_limits::set(const pool_options& options) noexcept {
  core_.store(options.min_threads, std::memory_order_relaxed);
  stay_.store(options.allow_core_timeout ? 0 : options.min_threads, std::memory_order_relaxed);
  growth_.store(options.growth, std::memory_order_relaxed);
  keep_alive_.store(options.keep_alive, std::memory_order_relaxed);
}

std::int64_t pool_limits::stays_until(std::chrono::steady_clock::time_point since, unsigned threads,
                                      unsigned most) const noexcept {
  using clock = std::chrono::steady_clock;
  // Whoever is one too many sees it when it parks itself, and changes/look_again tells who is
  // parked.
  if (threads <= stay()) return platform::no_deadline;
  if (threads > most) return since.time_since_epoch().count();  // at once
  const clock::duration span = keep_alive_.load(std::memory_order_relaxed);
  if (span > clock::time_point::max() - since) return platform::no_deadline;
  return (since + span).time_since_epoch().count();
}

}  // namespace tandem::inline v0::detail
