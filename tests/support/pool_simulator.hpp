// pool_simulator.hpp: a worker pool on a simulated machine, steered by the controller.
// SPDX-License-Identifier: MIT
//
// The pool is modelled in a few lines: a queue, workers below or above a goal, and the two places
// where the controller is asked, the end of an item and the gate's tick. Written apart from the
// controller: nothing here knows how it decides, and the ideal number of workers comes from the
// load alone.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "simulated_machine.hpp"
#include "sizing/adaptive_controller.hpp"
#include "starvation/starvation_gate.hpp"

namespace tandem::test {

/// Items, and how they come.
class simulated_load {
 public:
  simulated_load(unsigned cpu_count, double compute, double wait) noexcept
      : compute_seconds(compute), wait_seconds(wait), cpus(cpu_count) {}

  /// Workers that keep the wanted share of the CPUs busy.
  double ideal_workers() const noexcept {
    return cpus * (arrival_share > 0 ? arrival_share : 1) * (1 + wait_seconds / compute_seconds);
  }

  double compute_seconds;
  double wait_seconds;
  double noise = 0.1;  ///< of both parts of each item: relative standard deviation
  /// What arrives, as a share of what the CPUs can compute; 0: there is always another item.
  double arrival_share = 0;
  /// So many items at the start, and no others; 0: as above.
  std::uint64_t burst = 0;
  /// Items of the burst end only after the next one has been taken from the queue and has ended.
  bool nested = false;
  unsigned cpus;
  std::uint64_t seed = 1;
};

/// The pool just after an update that stored a sample, or after the gate has changed the goal.
class simulated_record {
 public:
  double time = 0;
  double cpu = 0;
  unsigned old_goal = 0;
  unsigned goal = 0;
  unsigned processing = 0;
  tandem::decision_reason reason = tandem::decision_reason::warm_up;
  double move = 0;
  double gain = 0;
  double running = 0;  ///< workers that ran an item, on average since the record before
  std::uint64_t queued = 0;
};

class pool_simulator {
 public:
  pool_simulator(const simulated_load& load, unsigned min, unsigned max,
                 const tandem::adaptive_options& options = {});

  /// Runs until that time, or until a burst has been worked off.
  void run_until(double seconds);

  double now() const noexcept { return machine_.now(); }
  unsigned goal() const noexcept { return goal_; }
  unsigned processing() const noexcept { return processing_; }
  unsigned most_processing() const noexcept { return most_processing_; }
  std::uint64_t completions() const noexcept { return completions_; }
  std::uint64_t queued() const noexcept { return queued_; }
  /// Since the beginning, on average.
  double mean_running() noexcept;
  const std::vector<simulated_record>& records() const noexcept { return records_; }

 private:
  /// From the decision that a worker is to run to its first item.
  static constexpr double start_seconds = 100e-6;
  static constexpr double never = std::numeric_limits<double>::infinity();

  void arrive();
  void start_workers();
  void begin_item(unsigned worker);
  void computed(unsigned worker);
  void waited(unsigned worker);
  void end_item(unsigned worker);
  bool must_wait_for_another(unsigned worker);
  void go_on_or_park(unsigned worker);
  void climb();
  void tick();
  void count_running() noexcept;
  bool over() const noexcept;
  void record(unsigned old_goal, tandem::decision_reason reason, double move, double gain);

  simulated_load load_;
  tandem::adaptive_options options_;
  simulated_machine machine_;
  tandem::detail::adaptive_controller controller_;
  tandem::detail::starvation_gate gate_;
  unsigned min_;
  unsigned max_;
  unsigned goal_;
  unsigned processing_ = 0;
  unsigned most_processing_ = 0;
  unsigned on_the_way_ = 0;  // started, without an item yet
  std::uint64_t queued_;
  std::uint64_t taken_ = 0;
  std::uint64_t completions_ = 0;
  std::vector<unsigned> parked_;        // workers without an item, the one parked last at the end
  std::vector<bool> starting_;          // by worker
  std::vector<std::uint64_t> item_of_;  // by worker
  std::vector<int> waiter_of_;          // nested items: the worker that waits for it
  std::vector<bool> ended_;             // nested items
  double next_arrival_;
  double next_tick_;
  double last_busy_ = 0;
  double cpu_read_at_ = 0;
  double cpu_ = 1;  // not read yet
  double sampled_at_ = 0;
  double sample_due_;
  std::uint64_t sampled_completions_ = 0;
  double run_seconds_ = 0;  // of all workers, until the last change of their number
  double run_since_ = 0;
  double recorded_run_seconds_ = 0;
  double recorded_at_ = 0;
  std::vector<simulated_record> records_;
};

}  // namespace tandem::test
