// line_limit.hpp: at most one line a second on standard error, whatever fails how often.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tandem::inline v0::io {

/// @thread_safety  any
class line_limit {
 public:
  /// @returns  whether a line may be written; else it counts as left out
  bool is_due(std::chrono::steady_clock::time_point now) noexcept {
    const std::int64_t at = now.time_since_epoch().count();
    const std::int64_t later = at + std::chrono::nanoseconds(std::chrono::seconds(1)).count();
    // Relaxed, all: it is about whose turn it is, nothing is published.
    std::int64_t next = next_.load(std::memory_order_relaxed);
    if (at >= next && next_.compare_exchange_strong(next, later, std::memory_order_relaxed)) {
      return true;
    }
    left_out_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  /// Since the last call.
  std::uint64_t take_left_out() noexcept {
    return left_out_.exchange(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> next_{INT64_MIN};
  std::atomic<std::uint64_t> left_out_{0};
};

}  // namespace tandem::inline v0::io
