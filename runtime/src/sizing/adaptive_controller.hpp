// adaptive_controller.hpp: hill climbing on the number of workers, as a pure function of samples.
// SPDX-License-Identifier: MIT
//
// Hellerstein, Morrison, Eilebrecht, "Optimizing Concurrency Levels in the .NET ThreadPool" (FeBID
// 2008): the number of workers follows a small square wave, and the discrete Fourier component of
// the throughput at the wave's period says what one more of them is worth; noise at the
// neighbouring periods says how far that can be believed. It reads no clock and no CPU counter:
// both are arguments. Protocol climb: runtime/src/sizing/README.md.
#pragma once

#include <chrono>
#include <complex>
#include <cstdint>
#include <vector>

#include <tandem/adaptive_options.hpp>
#include <tandem/export.hpp>
#include <tandem/pool_decision.hpp>

namespace tandem::inline v0::detail {

/// What has been observed since the last call of adaptive_controller::update.
class climb_sample {
 public:
  climb_sample(unsigned present_goal, unsigned min_goal, unsigned max_goal,
               std::chrono::nanoseconds span, std::uint64_t completed) noexcept
      : elapsed(span), completions(completed), goal(present_goal), min(min_goal), max(max_goal) {}

  std::chrono::nanoseconds elapsed;
  std::uint64_t completions;
  /// Share of the CPUs in use, 0 to 1, as last read. Before the first reading: 1, so that nothing
  /// climbs.
  double cpu = 0;
  unsigned goal;  ///< at most so many workers run items
  unsigned min;   ///< the goal's limits, at least 1
  unsigned max;
  /// Workers below the goal that have nothing to do.
  unsigned idle = 0;
};

/// What to do, and what it was concluded from.
class climb_step {
 public:
  unsigned goal = 0;
  /// No update before so much time has passed.
  std::chrono::nanoseconds next{};
  decision_reason reason = decision_reason::warm_up;
  double throughput = 0;  ///< of the last sample that was not too coarse, per second
  double gain = 0;        ///< relative throughput per relative thread count, less the target's
  double confidence = 0;
  double noise = 0;     ///< relative, smoothed
  double move = 0;      ///< by which the control setting was moved
  bool stored = false;  ///< false: the sample was too coarse, and goes on
};

/// Not thread-safe; update() is called by one worker at a time, under its try-lock.
class TANDEM_API adaptive_controller {
 public:
  /// @param options  valid; copied
  /// @param goal     at the start
  /// @param seed     of the sample intervals
  /// @throws         std::bad_alloc
  adaptive_controller(const adaptive_options& options, unsigned goal, std::uint64_t seed);

  /// @cost  no allocation; some 32 x 4 multiplications, five times a second
  climb_step update(const climb_sample& sample) noexcept;

  /// The gate, or a blocking_region, has changed the goal. A change that is not told is found by
  /// the next update (climb/outside), but only then, and if another one has not undone it.
  ///
  /// @param reason  after `blocking` the sample goes on; anything else draws a new interval for it
  void goal_changed(unsigned goal, decision_reason reason) noexcept;

  /// How long the first sample takes.
  std::chrono::nanoseconds interval() const noexcept { return interval_; }
  /// What the wave swings up from.
  double control() const noexcept { return control_; }
  unsigned wave_magnitude() const noexcept { return magnitude_; }

 private:
  // Implementation
  class analysis;
  analysis analyse() noexcept;
  std::complex<double> wave_component(const std::vector<double>& ring, unsigned count,
                                      double period) const noexcept;
  double mean(const std::vector<double>& ring, unsigned count) const noexcept;
  double noise_estimate(unsigned count, double mean_throughput) const noexcept;
  double move_for(const analysis& seen, const climb_sample& sample, double seconds) const noexcept;
  unsigned wave_on(const climb_sample& sample) noexcept;
  void draw_interval() noexcept;

  adaptive_options options_;
  double control_;
  unsigned last_goal_;
  unsigned magnitude_ = 1;
  bool wave_held_ = false;
  double average_noise_ = 0;
  std::uint64_t samples_ = 0;  // stored so far
  std::chrono::nanoseconds left_elapsed_{};
  std::uint64_t left_completions_ = 0;
  std::vector<double> throughputs_;  // rings, written at samples_ modulo their size
  std::vector<double> thread_counts_;
  std::uint64_t random_;
  std::chrono::nanoseconds interval_{};
};

}  // namespace tandem::inline v0::detail
