// adaptive_pool_support.hpp: a pool that decides quickly, and what it has decided.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <tandem/runtime.hpp>
#include <vector>

#include "runtime/support/submit_support.hpp"  // wait_until

namespace tandem::test {

/// Decides within milliseconds, keeps threads for an hour.
inline runtime_options quick(unsigned min, unsigned max) {
  runtime_options options;
  options.min_threads = min;
  options.max_threads = max;
  options.keep_alive = std::chrono::hours(1);
  options.adaptive.gate_period = std::chrono::milliseconds(5);
  options.adaptive.starvation_delay = std::chrono::milliseconds(5);
  options.adaptive.starvation_busy_delay_per_thread = std::chrono::milliseconds(5);
  options.adaptive.blocking_delay_step = std::chrono::milliseconds(1);
  options.adaptive.blocking_max_delay = std::chrono::milliseconds(5);
  options.log_starvation = false;
  return options;
}

inline std::size_t count_of(const std::vector<pool_decision>& all, pool_action action,
                            decision_reason reason) {
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(),
      [&](const pool_decision& each) { return each.action == action && each.reason == reason; }));
}

}  // namespace tandem::test
