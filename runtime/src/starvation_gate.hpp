// starvation_gate.hpp: adds a worker where work waits and nothing is dequeued; a pure function.
// SPDX-License-Identifier: MIT
//
// The climb learns from items that end. Where none does, because every worker is blocked, perhaps
// on an item that still waits in a queue, it learns nothing, and this rule finds the way out. Steps
// HG1-HG3: runtime/README.md, "The controller".
#pragma once

#include <chrono>

#include <tandem/adaptive_options.hpp>
#include <tandem/export.hpp>

namespace tandem::inline v0::detail {

/// What the gate sees in a round.
class gate_reading {
 public:
  gate_reading(unsigned running, unsigned present_goal, unsigned max_goal) noexcept
      : processing(running), goal(present_goal), max(max_goal) {}

  /// Since an item was last dequeued.
  std::chrono::nanoseconds since_dequeue{};
  double cpu = 0;       ///< share of the CPUs in use, 0 to 1
  unsigned processing;  ///< workers that run an item
  unsigned goal;
  unsigned max;
  bool work_requested = false;  ///< a worker has been asked for, and has not come
  bool needed = true;           ///< something was posted or blocked since the last round
};

/// What follows.
class gate_outcome {
 public:
  unsigned goal = 0;   ///< a higher one than was read: one more worker is to start
  bool sleep = false;  ///< until somebody needs the gate again
};

/// Used by the thread of the gate alone.
class TANDEM_API starvation_gate {
 public:
  explicit starvation_gate(const adaptive_options& options) noexcept;

  gate_outcome round(const gate_reading& reading) noexcept;

  /// How long nothing must have been dequeued, at this load.
  static std::chrono::nanoseconds limit(const adaptive_options& options, double cpu,
                                        unsigned goal) noexcept;

 private:
  adaptive_options options_;
  unsigned idle_rounds_ = 0;
};

}  // namespace tandem::inline v0::detail
