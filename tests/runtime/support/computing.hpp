// computing.hpp: children that compute, and do not wait.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <tandem/stop.hpp>
#include <tandem/task.hpp>
#include <thread>

namespace tandem::test {

inline void compute_for(std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
}

/// Computes, and asks, until it is told of a stop.
inline task<stop_reason> asks_until_stopped(std::atomic<int>& asking) {
  ++asking;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!stop_requested() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  co_return current_stop_reason();
}

}  // namespace tandem::test
