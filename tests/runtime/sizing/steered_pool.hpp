// steered_pool.hpp: a controller, and a pool that does what it says at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

#include "runtime/sizing/climb_reference.hpp"
#include "sizing/adaptive_controller.hpp"

namespace tandem::test {

/// The test says how much was completed; the CPUs are free and nobody is idle unless it is set.
class steered_pool {
 public:
  explicit steered_pool(unsigned first_goal, unsigned lowest = 1, unsigned highest = 1000,
                        const tandem::adaptive_options& options = {}, std::uint64_t seed = 1)
      : controller(options, first_goal, seed), goal(first_goal), min(lowest), max(highest) {}

  tandem::detail::climb_step feed(std::uint64_t completions, std::chrono::nanoseconds elapsed =
                                                                 std::chrono::milliseconds(100)) {
    tandem::detail::climb_sample sample(goal, min, max, elapsed, completions);
    sample.cpu = cpu;
    sample.idle = idle;
    const tandem::detail::climb_step step = controller.update(sample);
    goal = step.goal;
    return step;
  }
  /// Until the analysis has begun: a throughput of `each` for each worker.
  void warm_up(std::uint64_t each = 1000) {
    for (int sample = 0; sample < 8; ++sample) feed(each * goal);
  }

  tandem::detail::adaptive_controller controller;
  unsigned goal;
  unsigned min;
  unsigned max;
  double cpu = 0.01;
  unsigned idle = 0;
};

/// Feeds the same random load to both; `compare` sees them after each sample.
template <class Compare>
void beside_the_reference(Compare compare) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise;
    const double deviation = 0.05 * static_cast<double>(seed % 4);
    const double knee = 5.0 + static_cast<double>(seed);  // more workers bring nothing
    steered_pool pool(2, 2, 60);
    climb_reference reference(2, 2, 60);
    for (int sample = 0; sample < 150; ++sample) {
      const double each = 10'000 * std::max(1 + deviation * noise(random), 0.1);
      const auto completions =
          static_cast<std::uint64_t>(each * std::min(knee, static_cast<double>(pool.goal)));
      const std::chrono::milliseconds elapsed(10 + static_cast<int>(random() % 400));
      const tandem::detail::climb_step step = pool.feed(completions, elapsed);
      ASSERT_TRUE(step.stored);
      const double seconds = std::chrono::duration<double>(elapsed).count();
      reference.add(static_cast<double>(completions) / seconds, seconds);
      compare(step, pool, reference);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace tandem::test
