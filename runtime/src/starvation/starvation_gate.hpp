// starvation_gate.hpp: adds a worker where work waits and nothing is dequeued; a pure function.
// SPDX-License-Identifier: MIT
//
// The climb learns from items that end. Where none does, because every worker is blocked, perhaps
// on an item that still waits in a queue, it learns nothing, and this rule finds the way out.
// Protocol gate: runtime/src/starvation/README.md.
#pragma once

#include <chrono>
#include <cstdint>

#include <tandem/adaptive_options.hpp>
#include <tandem/export.hpp>

namespace tandem::inline v0::detail {

/// What the gate sees in a round.
class gate_reading {
 public:
  gate_reading(unsigned running, unsigned present_goal, unsigned max_goal) noexcept
      : processing(running), goal(present_goal), max(max_goal) {}

  std::chrono::nanoseconds now{};  ///< since any moment, always the same
  std::uint64_t dequeued = 0;      ///< items that were ever taken from a queue
  double cpu = 0;                  ///< share of the CPUs in use, 0 to 1
  unsigned processing;             ///< workers that run an item
  unsigned goal;
  unsigned max;
  bool work_requested = false;  ///< something waits in a queue
  bool has_quota = false;       ///< whoever uses more than the CPUs that there are is stopped
};

/// What follows.
class gate_outcome {
 public:
  unsigned goal = 0;                ///< a higher one than was read: one more worker is to start
  bool sleep = false;               ///< until somebody needs the gate again: then begin()
  std::chrono::nanoseconds next{};  ///< the next round is due after this
};

/// Used by one thread at a time.
class TANDEM_API starvation_gate {
 public:
  explicit starvation_gate(const adaptive_options& options) noexcept;

  /// The gate wakes up: what was before does not count. A first round is due after a gate_period.
  void begin(std::chrono::nanoseconds now, std::uint64_t dequeued) noexcept;
  gate_outcome round(const gate_reading& reading) noexcept;

  /// How long nothing must have been dequeued, at this load.
  static std::chrono::nanoseconds limit(const adaptive_options& options, double cpu,
                                        unsigned goal) noexcept;

 private:
  /// gate/look_again: what the worker that was added gets for taking its first item.
  static std::chrono::nanoseconds settling(const adaptive_options& options) noexcept {
    return options.gate_period / 10;
  }

  adaptive_options options_;
  unsigned idle_rounds_ = 0;
  bool settles_ = false;  // gate/look_again: the next round only looks
  std::uint64_t dequeued_ = 0;
  std::chrono::nanoseconds last_dequeue_{};  // when a round saw that there had been one
};

}  // namespace tandem::inline v0::detail
