// pool_control.hpp: keeps the number of workers of a pool right. Protocol crew: runtime/src/crew/README.md.
// SPDX-License-Identifier: MIT
//
// Rules that decide (adaptive_controller, starvation_gate, blocking_adjustment) are pure; here they
// get what they ask for: a clock, what the pool has done, and the CPU. Its parts: the goal
// (worker_goal), the timers (control_timers), and what looks for starvation. A sample that is due
// is taken by the next worker that ends an item. All that decides is under one lock, which is never
// held while the pool's idle lock is taken.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <tandem/detail/machine_watch.hpp>
#include <tandem/pool_decision.hpp>
#include <tandem/pool_options.hpp>

#include "crew/awake_watch.hpp"
#include "sizing/adaptive_controller.hpp"
#include "sizing/control_timers.hpp"
#include "sizing/controlled_pool.hpp"
#include "sizing/cpu_meter.hpp"
#include "sizing/worker_goal.hpp"
#include "starvation/starvation_gate.hpp"
#include "starvation/starvation_reporter.hpp"

namespace tandem::inline v0::detail {

class pool_control final : public awake_watch, private timed_control {
 public:
  /// What workers are asked for, between two items.
  enum request : std::uint32_t { sample_due = 1, too_many = 2 };

  /// @param decides  false: it only passes on who is one too many, until reconfigure() says
  ///                 otherwise
  pool_control(controlled_pool& pool, const controlled_parts& parts,
               std::shared_ptr<const pool_options> options, bool decides);

  /// Worker: whether it is asked for something. A line that is written some ten times a second.
  bool asks() const noexcept {
    return asked_.load(std::memory_order_relaxed) != 0;  // a hint: answer() looks in order
  }
  void ask(request what) noexcept { asked_.fetch_or(what, std::memory_order_seq_cst); }
  /// Worker, after asks(): takes the sample that is due. It then steps back if too many are busy.
  void answer() noexcept;

  /// @param reason  `work`, unless its starter knows better
  /// @returns       what it came for
  decision_reason thread_started(decision_reason reason) noexcept;
  void thread_retired(decision_reason reason) noexcept;
  void region_began() noexcept;
  void region_ended() noexcept;

  /// changes/control. @param climb  where the climb begins anew; else it goes on
  /// @returns by how much the goal has changed: for change_target()
  /// @param begins_with_least  the goal is the least that there may be, whatever it was
  int reconfigure(std::shared_ptr<const pool_options>& options,
                  std::optional<adaptive_controller> climb,
                  bool begins_with_least = false) noexcept;
  /// The goal where nothing is decided.
  static unsigned fixed_goal(const pool_options& options) noexcept;

  /// Before the workers are joined: nothing is decided any more.
  void stop() noexcept;

  /// Of the timers that are armed so many are its own: no task waits for them.
  unsigned timers_of_its_own() noexcept;

  unsigned goal() const noexcept { return goal_.now(); }
  unsigned blocked() const noexcept { return blocked_.load(std::memory_order_relaxed); }

 private:
  using clock = std::chrono::steady_clock;

  // crew/timers
  void turn_on() noexcept override;
  void run_timers(clock::time_point now) noexcept;
  bool fell_asleep() noexcept;
  void sample_is_due() noexcept override { ask(sample_due); }
  void gate_is_due() noexcept override;
  void delay_is_over() noexcept override { adjust_for_blocking(true); }

  // Under the lock, all but adjust_for_blocking().
  /// Protocol climb. @returns by how much the goal has changed
  int take_sample() noexcept;
  /// What a sample counts.
  std::uint64_t completions() const noexcept;
  gate_reading read(clock::time_point now) noexcept;
  /// gate/starved and reports: what was before does not count.
  void begin_watching(clock::time_point now) noexcept;
  /// crew/retire. @returns by how much the goal has changed
  int lower_to_what_is_left(decision_reason reason) noexcept;
  /// crew/region
  int move_for_blocking(bool delay_elapsed) noexcept;
  void adjust_for_blocking(bool delay_elapsed) noexcept;

  controlled_pool& pool_;
  const controlled_parts parts_;
  // The gate's timer's, which fires once at a time (sizing/follow).
  machine_watch machine_;
  unsigned untold_cpus_ = 0;  // what the pool has not been told yet
  alignas(64) std::atomic<std::uint32_t> asked_{0};
  std::atomic<unsigned> blocked_{0};  // workers inside a region
  alignas(64) std::mutex lock_;

  // Guarded by lock_ from here.
  std::shared_ptr<const pool_options> options_;
  bool decides_;
  bool stopped_ = false;
  cpu_meter cpu_;
  worker_goal goal_;
  starvation_gate gate_;
  starvation_reporter reports_;
  std::chrono::nanoseconds interval_;  // of the sample that is under way
  clock::time_point sampled_at_{};
  std::uint64_t sampled_items_ = 0;
  control_timers timers_;
};

}  // namespace tandem::inline v0::detail
