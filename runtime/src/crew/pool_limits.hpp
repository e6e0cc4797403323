// pool_limits.hpp: how many threads a pool keeps, for how long, and in which order it grows. changes/limits.
// SPDX-License-Identifier: MIT
//
// Written under the idle lock, where they count. Whoever reads one without it only looks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <tandem/pool_options.hpp>

namespace tandem::inline v0::detail {

class pool_limits {
 public:
  explicit pool_limits(const pool_options& options) noexcept;
  pool_limits(const pool_limits&) = delete;
  pool_limits& operator=(const pool_limits&) = delete;

  /// Threads that stay, unless idle ones may all end.
  unsigned core() const noexcept { return core_.load(std::memory_order_relaxed); }
  /// So many do not end when they are idle.
  unsigned stay() const noexcept { return stay_.load(std::memory_order_relaxed); }
  growth_order growth() const noexcept { return growth_.load(std::memory_order_relaxed); }
  void set(const pool_options& options) noexcept;

  /// crew/retire, changes/look_again. Until when a worker that parked at `since` may stay, in ns of
  /// the steady clock, while there are `threads` of at most `most`.
  std::int64_t stays_until(std::chrono::steady_clock::time_point since, unsigned threads,
                           unsigned most) const noexcept;

 private:
  std::atomic<unsigned> core_;
  std::atomic<unsigned> stay_;
  std::atomic<growth_order> growth_;
  std::atomic<std::chrono::steady_clock::duration> keep_alive_;
};

}  // namespace tandem::inline v0::detail
