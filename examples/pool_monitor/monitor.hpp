// monitor.hpp: looks at a pool ten times a second, and at what it has decided.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include <tandem/runtime.hpp>

#include "load.hpp"

namespace monitor {

/// The pool at one moment.
class sample {
 public:
  sample() = default;
  double seconds = 0;  ///< since the start
  unsigned threads = 0;
  unsigned goal = 0;
  unsigned idle = 0;
  std::size_t queued = 0;
  std::uint64_t completed = 0;  ///< items, since the start
};

/// A thread that watches a pool until it is stopped.
class pool_watch {
 public:
  using decision_handler = std::function<void(const tandem::pool_decision&)>;

  /// @param told  hears of each decision, on the watching thread
  pool_watch(tandem::worker_pool& pool, const progress& items, decision_handler told);

  void stop();
  // After stop().
  const std::vector<sample>& samples() const { return samples_; }
  const std::vector<tandem::pool_decision>& decisions() const { return decisions_; }
  /// Threads, by the pool's own count: decisions() may lack some of a burst.
  std::uint64_t came() const { return came_; }
  std::uint64_t left() const { return left_; }

 private:
  void look();
  /// By the decisions that it has seen.
  std::size_t came_and_stayed() const;

  tandem::worker_pool& pool_;
  const progress& items_;
  decision_handler told_;
  const std::chrono::steady_clock::time_point start_;
  std::vector<sample> samples_;
  std::vector<tandem::pool_decision> decisions_;
  std::uint64_t came_ = 0;
  std::uint64_t left_ = 0;
  std::jthread thread_;
};

}  // namespace monitor
