// starvation_gate.cpp: the rule of the gate.
// SPDX-License-Identifier: MIT
#include "starvation/starvation_gate.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tandem::inline v0::detail {

namespace {
constexpr double full_share = 0.95;  // as hill climbing has it (climb/move)
}

starvation_gate::starvation_gate(const adaptive_options& options) noexcept : options_(options) {}

void starvation_gate::begin(std::chrono::nanoseconds now, std::uint64_t dequeued) noexcept {
  idle_rounds_ = 0;
  settles_ = false;
  dequeued_ = dequeued;
  last_dequeue_ = now;
}

gate_outcome starvation_gate::round(const gate_reading& reading) noexcept {
  gate_outcome outcome;
  outcome.goal = reading.goal;
  outcome.next = options_.gate_period;
  const bool progress = std::exchange(dequeued_, reading.dequeued) != reading.dequeued;
  if (progress || !reading.work_requested) last_dequeue_ = reading.now;
  if (std::exchange(settles_, false)) {
    outcome.next = options_.gate_period - settling(options_);
    return outcome;
  }
  const bool needed = progress || reading.processing != 0;
  idle_rounds_ = needed ? 0 : idle_rounds_ + 1;  // gate/off
  if (idle_rounds_ >= options_.gate_idle_rounds) {
    idle_rounds_ = 0;
    outcome.sleep = true;
  }
  const bool starved =
      reading.work_requested &&
      reading.now - last_dequeue_ >= limit(options_, reading.cpu, reading.goal);  // gate/starved
  // gate/full. They compute, all of the time that they may: one more would only have all stopped.
  const bool is_full = reading.has_quota && reading.cpu >= full_share;
  if (starved && !is_full && reading.processing >= reading.goal &&
      reading.processing < reading.max) {
    outcome.goal = reading.processing + 1;  // gate/raise
    outcome.sleep = false;
    outcome.next = settling(options_);  // gate/look_again
    idle_rounds_ = 0;
    settles_ = true;
  }
  return outcome;
}

std::chrono::nanoseconds starvation_gate::limit(const adaptive_options& options, double cpu,
                                                unsigned goal) noexcept {
  if (cpu < options.starvation_cpu_busy) {
    return std::max(options.starvation_delay - settling(options), std::chrono::nanoseconds(0));
  }
  return options.starvation_busy_delay_per_thread * static_cast<std::int64_t>(goal);
}

}  // namespace tandem::inline v0::detail
