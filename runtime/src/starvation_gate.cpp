// starvation_gate.cpp: the rule of the gate.
// SPDX-License-Identifier: MIT
#include "starvation_gate.hpp"

#include <algorithm>
#include <cstdint>

namespace tandem::inline v0::detail {

starvation_gate::starvation_gate(const adaptive_options& options) noexcept : options_(options) {}

gate_outcome starvation_gate::round(const gate_reading& reading) noexcept {
  gate_outcome outcome;
  outcome.goal = reading.goal;
  idle_rounds_ = reading.needed ? 0 : idle_rounds_ + 1;  // HG1
  if (idle_rounds_ >= options_.gate_idle_rounds) {
    idle_rounds_ = 0;
    outcome.sleep = true;
  }
  const bool starved = reading.work_requested &&
                       reading.since_dequeue >= limit(options_, reading.cpu, reading.goal);  // HG2
  if (starved && reading.processing >= reading.goal && reading.processing < reading.max) {
    outcome.goal = reading.processing + 1;  // HG3
    outcome.sleep = false;
    idle_rounds_ = 0;
  }
  return outcome;
}

std::chrono::nanoseconds starvation_gate::limit(const adaptive_options& options, double cpu,
                                                unsigned goal) noexcept {
  if (cpu < options.starvation_cpu_busy) {
    // The worker that the last round added has dequeued a moment after it; rounds are not exact
    // either.
    const std::chrono::nanoseconds slack = options.gate_period / 10;
    return std::max(options.starvation_delay - slack, std::chrono::nanoseconds(0));
  }
  return options.starvation_busy_delay_per_thread * static_cast<std::int64_t>(goal);
}

}  // namespace tandem::inline v0::detail
