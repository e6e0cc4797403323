// worker_goal.cpp: who moves the goal, and whom that is told.
// SPDX-License-Identifier: MIT
#include "sizing/worker_goal.hpp"

#include <utility>

namespace tandem::inline v0::detail {

worker_goal::worker_goal(controlled_pool& pool, const cpu_meter& cpu,
                         const adaptive_options& options, unsigned first, std::uint64_t seed)
    : pool_(pool), cpu_(cpu), goal_(first), climb_(options, first, seed), blocking_(options) {}

int worker_goal::set(unsigned wanted, decision_reason reason, unsigned min) noexcept {
  const unsigned old_goal = now();
  if (wanted == old_goal) return 0;
  goal_.store(wanted, std::memory_order_relaxed);
  if (wanted > old_goal) raised_for_.store(reason, std::memory_order_relaxed);
  if (wanted < old_goal && reason != decision_reason::blocking) {
    blocking_.lowered_to(wanted, min);
  }
  if (reason != decision_reason::climb && reason != decision_reason::warm_up &&
      reason != decision_reason::hold) {
    climb_.goal_changed(wanted, reason);
  }
  note(pool_action::change_goal, reason, old_goal);
  return static_cast<int>(wanted) - static_cast<int>(old_goal);
}

goal_move worker_goal::climb(const climb_sample& sample) noexcept {
  const climb_step step = climb_.update(sample);
  throughput_.store(step.throughput, std::memory_order_relaxed);
  return {set(step.goal, step.reason, sample.min), step.next};
}

goal_move worker_goal::adjust(const blocking_reading& reading) noexcept {
  const blocking_outcome outcome = blocking_.adjust(reading);
  return {set(outcome.goal, decision_reason::blocking, reading.min), outcome.delay};
}

void worker_goal::begin_anew(adaptive_controller&& climb,
                             const adaptive_options& options) noexcept {
  climb_ = std::move(climb);
  blocking_.set_options(options);
}

void worker_goal::note(pool_action action, decision_reason reason,
                       unsigned old_goal) const noexcept {
  pool_.note(action, reason, old_goal, now(), throughput_.load(std::memory_order_relaxed),
             cpu_.share());
}

}  // namespace tandem::inline v0::detail
