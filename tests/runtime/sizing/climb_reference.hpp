// climb_reference.hpp: hill climbing in plain arithmetic, nothing kept that can be computed.
// SPDX-License-Identifier: MIT
//
// Written from the description of the algorithm, not from the controller: a Fourier sum over
// complex exponentials instead of Goertzel's recurrence, all samples kept, every step spelled out
// with the default constants. No CPU is short here and no worker idle.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

namespace tandem::test {

class climb_reference {
 public:
  climb_reference(unsigned first_goal, unsigned min, unsigned max)
      : control(first_goal), goal(first_goal), min_(min), max_(max) {}

  /// A sample under the present goal.
  void add(double throughput, double seconds) {
    throughputs_.push_back(throughput);
    threads_.push_back(goal);
    ratio = 0;
    confidence = 0;
    const std::size_t usable = std::min<std::size_t>(throughputs_.size() - 1, 32) / 4 * 4;
    if (usable >= 8) analyse(static_cast<double>(usable));

    const double direction = std::clamp(ratio.real(), -1.0, 1.0) * std::clamp(confidence, 0.0, 1.0);
    move = std::min(20.0, std::copysign(direction * direction * 4 * seconds, direction));
    control += move;
    magnitude = static_cast<unsigned>(
        std::clamp(std::floor(0.5 + control * average_noise * 3 * 2), 1.0, 20.0));
    control = std::max<double>(min_, std::min<double>(control, max_ - magnitude));
    const bool high = throughputs_.size() % 4 >= 2;
    goal = std::clamp(static_cast<unsigned>(control + (high ? magnitude : 0)), min_, max_);
  }

  std::complex<double> ratio;
  double confidence = 0;
  double average_noise = 0;
  double move = 0;
  double control;
  unsigned magnitude = 1;
  unsigned goal;

 private:
  static std::complex<double> component(const std::vector<double>& all, double count,
                                        double period) {
    const auto used = static_cast<std::size_t>(count);
    std::complex<double> sum = 0;
    for (std::size_t index = 0; index < used; ++index) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(index) / period;
      sum += all[all.size() - used + index] * std::polar(1.0, -angle);
    }
    return sum / count;
  }

  void analyse(double count) {
    const double mean_throughput = std::abs(component(throughputs_, count, 1));
    const double mean_threads = std::abs(component(threads_, count, 1));
    const std::complex<double> effect = component(throughputs_, count, 4) / mean_throughput;
    const std::complex<double> cause = component(threads_, count, 4) / mean_threads;
    double noise = std::abs(component(throughputs_, count, count / (count / 4 + 1)));
    noise = std::max(noise, std::abs(component(throughputs_, count, count / (count / 4 - 1))));
    noise /= mean_throughput;
    average_noise = throughputs_.size() == 9 ? noise : 0.01 * noise + 0.99 * average_noise;
    if (std::abs(cause) > 0) ratio = (effect - 0.15 * cause) / cause;
    confidence = std::abs(cause) / std::max(average_noise, noise) / 3;
  }

  unsigned min_;
  unsigned max_;
  std::vector<double> throughputs_;
  std::vector<double> threads_;
};

}  // namespace tandem::test
