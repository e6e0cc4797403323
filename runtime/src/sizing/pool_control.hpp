// pool_control.hpp: keeps the number of workers of a pool right. Protocol crew: runtime/src/pool/README.md.
// SPDX-License-Identifier: MIT
//
// Rules that decide (adaptive_controller, starvation_gate, blocking_adjustment) are pure; here they
// get what they ask for: a clock, what the pool has done, and the CPU. Two timers of the runtime
// run while somebody is awake: one says that a sample is due, which the next worker that ends an
// item takes; the other is the gate. All that decides is under one lock, which is never held while
// the pool's idle lock is taken.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tandem/detail/timer_service.hpp>
#include <tandem/pool_options.hpp>
#include <tandem/worker_pool.hpp>

#include "sizing/adaptive_controller.hpp"
#include "sizing/blocking_adjustment.hpp"
#include "sizing/starvation_gate.hpp"
#include "sizing/starvation_watch.hpp"

namespace tandem::inline v0::detail {

class pool_control {
 public:
  /// What workers are asked for, between two items.
  enum request : std::uint32_t { sample_due = 1, too_many = 2 };

  /// @param decides  false: it only passes on who is one too many, until reconfigure() says
  ///                 otherwise
  pool_control(worker_pool::impl& pool, std::shared_ptr<const pool_options> options, bool decides);
  pool_control(const pool_control&) = delete;
  pool_control& operator=(const pool_control&) = delete;

  /// Worker: whether it is asked for something. A line that is written some ten times a second.
  bool asks() const noexcept {
    return asked_.load(std::memory_order_relaxed) != 0;  // a hint: answer() looks in order
  }
  void ask(request what) noexcept { asked_.fetch_or(what, std::memory_order_seq_cst); }
  /// Worker, after asks(): takes the sample that is due. It then steps back if too many are busy.
  void answer() noexcept;

  /// crew/timers. A worker was woken or started: the timers have to run.
  void somebody_is_awake() noexcept {
    // seq_cst: pairs with sleep_unless_busy().
    if (!on_.load(std::memory_order_seq_cst)) [[unlikely]]
      turn_on();
  }
  /// @param reason  `work`, unless its starter knows better
  /// @returns       what it came for
  decision_reason thread_started(decision_reason reason) noexcept;
  void thread_retired(decision_reason reason) noexcept;
  void region_began() noexcept;
  void region_ended() noexcept;

  /// changes/control. @param climb  where the climb begins anew; else it goes on
  /// @returns by how much the goal has changed: for change_target()
  int reconfigure(std::shared_ptr<const pool_options>& options,
                  std::optional<adaptive_controller> climb) noexcept;
  /// The goal where nothing is decided.
  static unsigned fixed_goal(const pool_options& options) noexcept;

  /// Before the workers are joined: nothing is decided any more.
  void stop() noexcept;

  unsigned goal() const noexcept { return goal_.load(std::memory_order_relaxed); }
  unsigned blocked() const noexcept { return blocked_.load(std::memory_order_relaxed); }

 private:
  using clock = std::chrono::steady_clock;

  class timer : public timer_node {
   public:
    timer(pool_control& of, fire_function fire) noexcept : timer_node(fire), owner(of) {}
    pool_control& owner;
  };

  void turn_on() noexcept;
  void run_timers() noexcept;
  void call_off_timers() noexcept;
  void arm(timer& which, clock::duration after) noexcept;
  static void on_sample_time(timer_node& self, fired_timers& batch) noexcept;
  static void on_gate_time(timer_node& self, fired_timers& batch) noexcept;
  static void on_blocking_time(timer_node& self, fired_timers& batch) noexcept;
  void gate_round() noexcept;
  /// What a sample counts.
  std::uint64_t completions() const noexcept;
  gate_reading read(clock::time_point now) noexcept;
  void read_cpu(clock::time_point now) noexcept;
  /// gate/starved and reports: what was before does not count.
  void begin_watching(clock::time_point now) noexcept;
  /// gate/next_slot, and what reports need.
  void watch(gate_reading& reading) noexcept;
  bool report_is_due(clock::time_point now) noexcept;
  starvation_report report() const;
  void tell(const pool_options& options, const starvation_report& report) const noexcept;
  bool fell_asleep() noexcept;
  /// crew/retire. @returns by how much the goal has changed
  int lower_to_what_is_left(decision_reason reason) noexcept;
  int adjust_for_blocking(bool delay_elapsed) noexcept;
  int set_goal(unsigned goal, decision_reason reason) noexcept;
  void log(pool_action action, decision_reason reason, unsigned old_goal) noexcept;

  worker_pool::impl& pool_;
  const unsigned cpus_;
  alignas(64) std::atomic<std::uint32_t> asked_{0};
  std::atomic<bool> on_;        // the timers run, or are not needed (changes/control)
  std::atomic<unsigned> goal_;  // written under lock_
  std::atomic<decision_reason> raised_for_{decision_reason::work};
  std::atomic<unsigned> blocked_{0};   // workers inside a region
  std::atomic<double> throughput_{0};  // of the last sample that was taken
  alignas(64) std::mutex lock_;

  // Guarded by lock_ from here.
  std::shared_ptr<const pool_options> options_;
  bool decides_;
  bool stopped_ = false;
  adaptive_controller climb_;
  starvation_gate gate_;
  blocking_adjustment blocking_;
  bool sample_waits_ = false;    // its timer is armed, or workers are asked
  bool gate_waits_ = false;      // its timer is armed, or about to call
  bool blocking_waits_ = false;  // its timer is armed
  std::chrono::nanoseconds interval_;
  clock::time_point sampled_at_{};
  std::uint64_t sampled_items_ = 0;
  clock::time_point cpu_read_at_{};
  std::chrono::nanoseconds cpu_used_{};
  std::atomic<double> cpu_{
      1.0};  // before the first reading nothing climbs; read without the lock too
  starvation_watch starvation_;
  std::vector<std::uint64_t> begun_;  // items by worker: for starvation_
  clock::time_point reported_at_{};
  clock::time_point next_attempt_{};  // to have a thread for the timers
  timer sample_timer_;
  timer gate_timer_;
  timer blocking_timer_;
};

}  // namespace tandem::inline v0::detail
