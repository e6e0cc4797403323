// adaptive_options.cpp: the ranges of the controller's constants.
// SPDX-License-Identifier: MIT
#include <limits>
#include <stdexcept>
#include <string>

#include <tandem/adaptive_options.hpp>

#include "process/enumerators.hpp"

namespace tandem::inline v0 {

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();
/// Nothing here is meant to take longer; sums and multiples of it stay within 64 bits.
constexpr std::chrono::nanoseconds longest = std::chrono::hours(24);

[[noreturn]] void refuse(const char* option, const std::string& value, const std::string& range) {
  throw std::invalid_argument(std::string("adaptive_options::") + option + " is " + value +
                              ": it has to be " + range);
}

/// Written so that NaN is refused, too.
void check(const char* option, double value, bool good, const char* range) {
  if (!good || value == no_limit) refuse(option, std::to_string(value), range);
}

void check_share(const char* option, double value) {
  check(option, value, value >= 0 && value <= 1, "0 to 1");
}

void check_positive(const char* option, double value) {
  check(option, value, value > 0, "above 0, and finite");
}

void check_at_least_1(const char* option, double value) {
  check(option, value, value >= 1, "at least 1, and finite");
}

void check_count(const char* option, unsigned value, unsigned least, unsigned most) {
  if (value >= least && value <= most) return;
  refuse(option, std::to_string(value), std::to_string(least) + " to " + std::to_string(most));
}

void check_time(const char* option, std::chrono::nanoseconds value,
                std::chrono::nanoseconds least = std::chrono::nanoseconds(1)) {
  if (value >= least && value <= longest) return;
  refuse(option, std::to_string(value.count()) + " ns",
         std::to_string(least.count()) + " ns to 24 h");
}

}  // namespace

const char* to_string(completion_count what) noexcept {
  switch (what) {
    case completion_count::segments: return "segments";
    case completion_count::tasks: return "tasks";
  }
  return "unknown";
}

void adaptive_options::validate() const {
  if (count > completion_count::tasks) {
    throw std::invalid_argument("adaptive_options::count: " +
                                detail::no_enumerator(count, "completion_count"));
  }
  check_time("min_sample_interval", min_sample_interval);
  check_time("max_sample_interval", max_sample_interval, min_sample_interval);
  check_positive("max_sample_error", max_sample_error);
  check_time("coarse_sample_retry", coarse_sample_retry);

  check_count("wave_period_samples", wave_period_samples, 4, 64);
  if (wave_period_samples % 2 != 0) {
    refuse("wave_period_samples", std::to_string(wave_period_samples), "even");
  }
  check_count("wave_history", wave_history, 2, 64);
  check_count("max_wave_magnitude", max_wave_magnitude, 1, 1000);
  check("wave_magnitude_multiplier", wave_magnitude_multiplier, wave_magnitude_multiplier >= 0,
        "at least 0, and finite");

  check_share("target_throughput_ratio", target_throughput_ratio);
  check_positive("target_signal_to_noise", target_signal_to_noise);
  check("error_smoothing", error_smoothing, error_smoothing > 0 && error_smoothing <= 1,
        "above 0, at most 1");
  check_at_least_1("gain_exponent", gain_exponent);
  check_positive("max_change_per_second", max_change_per_second);
  check_positive("max_change_per_sample", max_change_per_sample);
  check_share("cpu_full", cpu_full);
  check_at_least_1("floor_back_off", floor_back_off);

  check_time("gate_period", gate_period);
  check_count("gate_idle_rounds", gate_idle_rounds, 1, 1'000'000);
  check_time("cpu_sample_interval", cpu_sample_interval);
  check_time("starvation_delay", starvation_delay);
  check_share("starvation_cpu_busy", starvation_cpu_busy);
  check_time("starvation_busy_delay_per_thread", starvation_busy_delay_per_thread);

  check_count("blocking_at_once_per_cpu", blocking_at_once_per_cpu, 0, 1'000'000);
  check_count("blocking_per_step_per_cpu", blocking_per_step_per_cpu, 1, 1'000'000);
  check_time("blocking_delay_step", blocking_delay_step);
  check_time("blocking_max_delay", blocking_max_delay, blocking_delay_step);
}

}  // namespace tandem::inline v0
