// load.hpp: items that compute and wait, and somebody who always has more of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <tandem/task.hpp>
#include <tandem/worker_pool.hpp>

#include "settings.hpp"

namespace monitor {

/// What the items have done; written by them.
class progress {
 public:
  std::atomic<std::uint64_t> completed{0};
};

/// Keeps a CPU for so long, by the time that the thread itself has used.
void compute_for(std::chrono::nanoseconds time);

/// Submits items wherever the queue has a place until the time is over, and returns when the last
/// of them has ended.
tandem::task<void> feed(tandem::worker_pool& pool, const settings& chosen, progress& out);

/// All at once.
tandem::task<void> feed_burst(tandem::worker_pool& pool, const settings& chosen, progress& out);

}  // namespace monitor
