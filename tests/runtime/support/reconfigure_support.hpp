// reconfigure_support.hpp: pools that are changed by a test, and what they say to it.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <tandem/pool_change.hpp>
#include <tandem/runtime.hpp>
#include <vector>

#include "runtime/support/submit_support.hpp"

namespace tandem::test {

inline pool_change threads_between(unsigned min, unsigned max) {
  pool_change change;
  change.min_threads = min;
  change.max_threads = max;
  return change;
}

inline runtime_options bounded(unsigned min, unsigned max, growth_order growth,
                               std::size_t capacity) {
  runtime_options options = pool_of(min, max, growth);
  options.submissions.queue = queue_kind::bounded;
  options.submissions.capacity = capacity;
  return options;
}

/// Quick to decide, slow to let go.
inline runtime_options adaptive(unsigned min, unsigned max) {
  runtime_options options = pool_of(min, max, growth_order::demand);
  options.adaptive.enabled = true;
  options.adaptive.gate_period = std::chrono::milliseconds(5);
  options.adaptive.starvation_delay = std::chrono::milliseconds(5);
  options.adaptive.starvation_busy_delay_per_thread = std::chrono::milliseconds(5);
  options.log_starvation = false;
  return options;
}

inline std::vector<join_handle<void>> block(worker_pool& pool, gate& closed, int count) {
  std::vector<join_handle<void>> handles;
  for (int i = 0; i < count; ++i) handles.push_back(pool.submit(closed.block()));
  return handles;
}

inline void finish(gate& closed, std::vector<join_handle<void>>& handles) {
  closed.open();
  for (auto& each : handles) each.wait();
}

inline bool all_idle(worker_pool& pool, unsigned threads) {
  const auto now = pool.stats();
  return now.threads == threads && now.idle == threads;
}

/// What reconfigure() says; empty: it was done.
inline std::string refusal(worker_pool& pool, const pool_change& change) {
  try {
    pool.reconfigure(change);
  } catch (const std::invalid_argument& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace tandem::test
