// adaptive_options.hpp: every constant of the controller that chooses how many workers there are.
// SPDX-License-Identifier: MIT
//
// The defaults are those of the .NET thread pool. Hellerstein, Morrison, Eilebrecht, "Optimizing
// Concurrency Levels in the .NET ThreadPool" (FeBID 2008). What each of them does:
// runtime/src/sizing/README.md.
#pragma once

#include <chrono>
#include <concepts>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// What the controller counts as completed work.
enum class completion_count : unsigned char {
  segments,  ///< items taken from a queue: each resume of a task counts
  tasks      ///< tasks that have ended
};

/// "segments" or "tasks".
TANDEM_API const char* to_string(completion_count what) noexcept;

/// How a pool finds its number of workers between min_threads and max_threads.
///
///     tandem::adaptive_options options;
///     options.starvation_delay = std::chrono::milliseconds(200);
///     options.max_change_per_second = 8;
///     options.validate();
///
///     tandem::adaptive_options fixed = false;  // no controller at all
class TANDEM_API adaptive_options {
 public:
  using duration = std::chrono::nanoseconds;

  adaptive_options() noexcept = default;
  /// On or off, and the defaults.
  template <std::same_as<bool> Bool>
  adaptive_options(Bool on) noexcept : enabled(on) {}  // NOLINT(*-explicit-*): `options = false`

  /// @throws  std::invalid_argument naming the first option that is out of its range, and the range
  void validate() const;

  /// false: a fixed pool, in which no controller exists and nothing is counted for one.
  bool enabled = true;
  completion_count count = completion_count::segments;

  // Hill climbing: what a sample is.
  /// A sample takes a random time between these two, so that it does not beat with the load's
  /// rhythm.
  duration min_sample_interval = std::chrono::milliseconds(10);
  duration max_sample_interval = std::chrono::milliseconds(200);
  /// A sample with fewer completions than (threads - 1) / this is too coarse and goes on. Above 0.
  double max_sample_error = 0.15;
  /// When to look at such a sample again.
  duration coarse_sample_retry = std::chrono::milliseconds(10);

  // The wave that the number of threads follows, and by which its effect is measured.
  /// Samples in a period of the wave: 4 to 64, even.
  unsigned wave_period_samples = 4;
  /// Periods that are remembered: 2 to 64.
  unsigned wave_history = 8;
  /// Threads: 1 to 1000.
  unsigned max_wave_magnitude = 20;
  /// Of what the noise asks for.
  double wave_magnitude_multiplier = 1.0;

  // What is made of the measurement.
  /// A thread more has to bring at least this part of what the threads have brought so far; 0 to 1.
  double target_throughput_ratio = 0.15;
  /// The wave's amplitude over the noise for full confidence. Above 0.
  double target_signal_to_noise = 3.0;
  /// Weight of the newest noise estimate in the average; above 0, at most 1.
  double error_smoothing = 0.01;
  /// How much weaker a doubtful move is than a clear one: its power. At least 1.
  double gain_exponent = 2.0;
  /// Threads. Above 0.
  double max_change_per_second = 4.0;
  /// Threads, upward. Above 0.
  double max_change_per_sample = 20.0;
  /// Share of the CPUs above which no move goes up; 0 to 1.
  double cpu_full = 0.95;
  /// How much rarer samples become at the lowest number, where more threads do harm. At least 1.
  double floor_back_off = 10.0;

  // The gate, which helps where the climb sees nothing: no item ends.
  duration gate_period = std::chrono::milliseconds(500);
  /// Rounds without need after which the gate sleeps. At least 1.
  unsigned gate_idle_rounds = 2;
  /// How often the use of the CPU is read, by the gate: at least a gate_period lies between.
  duration cpu_sample_interval = std::chrono::milliseconds(500);
  /// Nothing dequeued for so long, although work waits: one more thread.
  duration starvation_delay = std::chrono::milliseconds(500);
  /// Share of the CPUs from which on it takes longer, 0 to 1: this long for each thread there is.
  double starvation_cpu_busy = 0.80;
  duration starvation_busy_delay_per_thread = std::chrono::milliseconds(1000);

  // Workers that are inside a blocking_region.
  /// So many for each CPU are replaced at once, above min_threads.
  unsigned blocking_at_once_per_cpu = 1;
  /// So many more for each CPU: then the delay before the next grows by a step. At least 1.
  unsigned blocking_per_step_per_cpu = 1;
  duration blocking_delay_step = std::chrono::milliseconds(25);
  duration blocking_max_delay = std::chrono::milliseconds(250);
};

}  // namespace tandem::inline v0
