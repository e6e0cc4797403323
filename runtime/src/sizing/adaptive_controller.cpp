// adaptive_controller.cpp: the thirteen steps of an update.
// SPDX-License-Identifier: MIT
#include "sizing/adaptive_controller.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include <tandem/detail/split_mix.hpp>

namespace tandem::inline v0::detail {

namespace {

/// A count that does not change has a component of some 1e-16 at every period: rounding, and no
/// wave. The smallest wave, one thread among a million, has 5e-7.
constexpr double no_wave = 1e-9;

double seconds_of(std::chrono::nanoseconds span) noexcept {
  return std::chrono::duration<double>(span).count();
}

}  // namespace

/// What steps climb/window to climb/ratio make of the rings.
class adaptive_controller::analysis {
 public:
  decision_reason reason = decision_reason::warm_up;
  std::complex<double> ratio{};
  double confidence = 0;
};

adaptive_controller::adaptive_controller(const adaptive_options& options, unsigned goal,
                                         std::uint64_t seed)
    : options_(options),
      control_(goal),
      last_goal_(goal),
      throughputs_(std::size_t{options.wave_period_samples} * options.wave_history),
      thread_counts_(throughputs_.size()),
      random_(seed) {
  draw_interval();
}

climb_step adaptive_controller::update(const climb_sample& sample) noexcept {
  // climb/outside
  if (sample.goal != last_goal_) goal_changed(sample.goal, decision_reason::outside_change);

  const std::chrono::nanoseconds elapsed = sample.elapsed + left_elapsed_;  // climb/left_over
  const std::uint64_t completions = sample.completions + left_completions_;

  climb_step step;
  step.goal = sample.goal;
  step.noise = average_noise_;
  // climb/too_coarse. Nothing completed by one worker alone is an exact zero, so it is stored.
  const double error = sample.goal <= 1   ? 0
                       : completions == 0 ? options_.max_sample_error
                                          : (sample.goal - 1.0) / static_cast<double>(completions);
  if (elapsed.count() <= 0 || (samples_ > 0 && error >= options_.max_sample_error)) {
    left_elapsed_ = elapsed;
    left_completions_ = completions;
    step.next = options_.coarse_sample_retry;
    return step;
  }
  left_elapsed_ = {};
  left_completions_ = 0;

  const double seconds = seconds_of(elapsed);
  const std::size_t slot = samples_++ % throughputs_.size();  // climb/rings
  throughputs_[slot] = static_cast<double>(completions) / seconds;
  thread_counts_[slot] = sample.goal;

  const analysis seen = analyse();
  const double move = move_for(seen, sample, seconds);
  control_ += move;  // climb/wave_height
  const unsigned goal = wave_on(sample);

  step.stored = true;
  step.throughput = throughputs_[slot];
  step.gain = seen.ratio.real();
  step.confidence = seen.confidence;
  step.noise = average_noise_;
  step.move = move;
  step.reason = wave_held_ ? decision_reason::hold : seen.reason;
  if (goal != sample.goal) {
    step.goal = goal;
    last_goal_ = goal;
    draw_interval();
  }
  // climb/interval
  const double back_off = -seen.ratio.real();
  step.next = interval_;
  if (back_off > 0 && goal == sample.min) {
    constexpr double most = 3.6e12;  // an hour
    const double wanted =
        static_cast<double>(interval_.count()) * options_.floor_back_off * std::min(back_off, 1.0);
    step.next = std::max(std::chrono::nanoseconds(std::llround(std::min(wanted, most))),
                         std::chrono::nanoseconds(options_.min_sample_interval));
  }
  return step;
}

void adaptive_controller::goal_changed(unsigned goal, decision_reason reason) noexcept {
  if (goal == last_goal_) return;
  control_ += static_cast<double>(goal) - static_cast<double>(last_goal_);
  last_goal_ = goal;
  if (reason != decision_reason::blocking) draw_interval();
}

adaptive_controller::analysis adaptive_controller::analyse() noexcept {
  analysis seen;
  const unsigned period = options_.wave_period_samples;
  // climb/window
  const std::uint64_t usable = std::min<std::uint64_t>(samples_ - 1, throughputs_.size());
  const auto count = static_cast<unsigned>(usable / period * period);
  if (count < 2 * period) return seen;

  const double mean_throughput = mean(throughputs_, count);
  const double mean_threads = mean(thread_counts_, count);
  if (!(mean_throughput > 0) || !(mean_threads > 0)) return seen;

  const auto throughput_wave =
      wave_component(throughputs_, count, period) / mean_throughput;  // climb/waves
  const auto thread_wave = wave_component(thread_counts_, count, period) / mean_threads;
  const double noise = noise_estimate(count, mean_throughput);
  average_noise_ = average_noise_ > 0 ? options_.error_smoothing * noise +  // climb/noise
                                            (1 - options_.error_smoothing) * average_noise_
                                      : noise;

  const double amplitude = std::abs(thread_wave);  // climb/ratio
  seen.reason = decision_reason::hold;
  if (amplitude > no_wave) {
    seen.ratio = (throughput_wave - options_.target_throughput_ratio * thread_wave) / thread_wave;
    seen.reason = decision_reason::climb;
  }
  const double doubt = std::max(average_noise_, noise);
  seen.confidence = doubt > 0 ? amplitude / doubt / options_.target_signal_to_noise : 1;
  return seen;
}

std::complex<double> adaptive_controller::wave_component(const std::vector<double>& ring,
                                                         unsigned count,
                                                         double period) const noexcept {
  // Goertzel: one component of the Fourier transform, without tables.
  const double angle = 2 * std::numbers::pi / period;
  const double coefficient = 2 * std::cos(angle);
  double newest = 0;
  double before = 0;
  for (unsigned index = 0; index < count; ++index) {
    const double value = ring[(samples_ - count + index) % ring.size()];
    const double next = coefficient * newest - before + value;
    before = newest;
    newest = next;
  }
  return std::complex<double>(newest - before * std::cos(angle), before * std::sin(angle)) /
         static_cast<double>(count);
}

double adaptive_controller::mean(const std::vector<double>& ring, unsigned count) const noexcept {
  double sum = 0;
  for (unsigned index = 0; index < count; ++index) {
    sum += ring[(samples_ - count + index) % ring.size()];
  }
  return sum / count;
}

double adaptive_controller::noise_estimate(unsigned count, double mean_throughput) const noexcept {
  const double waves = static_cast<double>(count) / options_.wave_period_samples;
  double noise = std::abs(wave_component(throughputs_, count, count / (waves + 1)));
  const double longer = count / (waves - 1);
  if (longer <= count)
    noise = std::max(noise, std::abs(wave_component(throughputs_, count, longer)));
  return noise / mean_throughput;
}

double adaptive_controller::move_for(const analysis& seen, const climb_sample& sample,
                                     double seconds) const noexcept {
  const double direction =  // climb/move
      std::clamp(seen.ratio.real(), -1.0, 1.0) * std::clamp(seen.confidence, 0.0, 1.0);
  const double size = std::pow(std::abs(direction), options_.gain_exponent) *
                      options_.max_change_per_second * seconds;
  if (!(direction > 0)) return -size;
  if (sample.cpu > options_.cpu_full) return 0;
  // Whoever has idle workers does not lack any, whatever the noise seems to say.
  if (sample.idle > 0) return 0;
  // n workers use at most n times what one of them uses now, so it takes at least `filling` to fill
  // the CPUs. The middle of the wave is not raised beyond that.
  double room = size;
  if (sample.cpu > 0) {
    const double filling = sample.goal * options_.cpu_full / sample.cpu;
    room = std::max(0.0, filling - control_ - magnitude_ / 2.0);
  }
  return std::min({size, options_.max_change_per_sample, room});
}

unsigned adaptive_controller::wave_on(const climb_sample& sample) noexcept {
  const double wanted = 0.5 + control_ * average_noise_ * options_.target_signal_to_noise *
                                  options_.wave_magnitude_multiplier * 2;
  magnitude_ = static_cast<unsigned>(
      std::clamp(wanted, 1.0, static_cast<double>(options_.max_wave_magnitude)));

  const double low = sample.min;  // climb/bounds
  const double high = sample.max;
  control_ = std::max(low, std::min(control_, high - magnitude_));

  // On full CPUs, at the floor, a wave could only do harm: there is no way but up, and that is
  // barred.
  wave_held_ = sample.cpu > options_.cpu_full && control_ <= low;
  const std::uint64_t half_periods = samples_ / (options_.wave_period_samples / 2);  // climb/goal
  const double wave = wave_held_ || half_periods % 2 == 0 ? 0 : magnitude_;
  return static_cast<unsigned>(std::clamp(control_ + wave, low, high));
}

void adaptive_controller::draw_interval() noexcept {
  const auto least = static_cast<std::uint64_t>(options_.min_sample_interval.count());
  const auto range = static_cast<std::uint64_t>(
      (options_.max_sample_interval - options_.min_sample_interval).count());
  interval_ = std::chrono::nanoseconds(
      static_cast<std::chrono::nanoseconds::rep>(least + split_mix(random_) % (range + 1)));
}

}  // namespace tandem::inline v0::detail
