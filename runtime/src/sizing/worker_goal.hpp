// worker_goal.hpp: how many workers of a pool may be busy, and who has moved that. Step crew/goal.
// SPDX-License-Identifier: MIT
//
// Hill climbing and declared blocking each have a picture of the goal, which is wrong once somebody
// else has moved it: so all moves go by set(), which tells the one what the other has done. It only
// decides: the caller hands the change to the pool when it has let go of the lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <tandem/adaptive_options.hpp>
#include <tandem/pool_decision.hpp>

#include "sizing/adaptive_controller.hpp"
#include "sizing/blocking_adjustment.hpp"
#include "sizing/controlled_pool.hpp"
#include "sizing/cpu_meter.hpp"

namespace tandem::inline v0::detail {

/// What came of asking a rule.
struct goal_move {
  int change;                     // of the goal: for change_target()
  std::chrono::nanoseconds next;  // when to ask again; 0: not by time
};

class worker_goal {
 public:
  /// @param seed  of the climb's sample intervals. @throws std::bad_alloc
  worker_goal(controlled_pool& pool, const cpu_meter& cpu, const adaptive_options& options,
              unsigned first, std::uint64_t seed);

  // Any thread.

  unsigned now() const noexcept { return goal_.load(std::memory_order_relaxed); }
  /// Why there may be more than before it was last raised.
  decision_reason raised_for() const noexcept {
    return raised_for_.load(std::memory_order_relaxed);
  }
  /// For decisions(): an action that moves no goal.
  void note(pool_action action, decision_reason reason) const noexcept {
    note(action, reason, now());
  }

  // Under the lock of the control.

  /// @param min  of the pool. @returns by how much the goal has changed
  int set(unsigned wanted, decision_reason reason, unsigned min) noexcept;
  /// Protocol climb.
  goal_move climb(const climb_sample& sample) noexcept;
  std::chrono::nanoseconds first_interval() const noexcept { return climb_.interval(); }
  /// Protocol regions.
  goal_move adjust(const blocking_reading& reading) noexcept;
  /// changes/control. Other options; what stands in for blocked workers stays known.
  void begin_anew(adaptive_controller&& climb, const adaptive_options& options) noexcept;
  /// changes/control. Nothing is decided from now on: nobody stands in for anybody.
  void decide_nothing(const adaptive_options& options) noexcept {
    blocking_ = blocking_adjustment(options);
  }

 private:
  void note(pool_action action, decision_reason reason, unsigned old_goal) const noexcept;

  controlled_pool& pool_;
  const cpu_meter& cpu_;
  std::atomic<unsigned> goal_;
  std::atomic<decision_reason> raised_for_{decision_reason::work};
  std::atomic<double> throughput_{0};  // of the last sample that was taken
  adaptive_controller climb_;
  blocking_adjustment blocking_;
};

}  // namespace tandem::inline v0::detail
