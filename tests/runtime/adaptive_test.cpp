// adaptive_test.cpp: the thirteen steps of a hill-climbing update, each against plain arithmetic.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "adaptive_controller.hpp"
#include "climb_reference.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::adaptive_options;
using tandem::decision_reason;
using tandem::detail::adaptive_controller;
using tandem::detail::climb_sample;
using tandem::detail::climb_step;
using tandem::test::climb_reference;

/// A controller, and the pool that does what it says.
class steered_pool {
 public:
  explicit steered_pool(unsigned first_goal, unsigned lowest = 1, unsigned highest = 1000,
                        const adaptive_options& options = {}, std::uint64_t seed = 1)
      : controller(options, first_goal, seed), goal(first_goal), min(lowest), max(highest) {}

  climb_step feed(std::uint64_t completions, std::chrono::nanoseconds elapsed = 100ms) {
    climb_sample sample(goal, min, max, elapsed, completions);
    sample.cpu = cpu;
    sample.idle = idle;
    const climb_step step = controller.update(sample);
    goal = step.goal;
    return step;
  }
  /// Until the analysis has begun: a throughput of `each` for each worker.
  void warm_up(std::uint64_t each = 1000) {
    for (int sample = 0; sample < 8; ++sample) feed(each * goal);
  }

  adaptive_controller controller;
  unsigned goal;
  unsigned min;
  unsigned max;
  double cpu = 0.01;
  unsigned idle = 0;
};

TEST(adaptive, step_1_an_outside_change_moves_the_control_setting_by_the_difference) {
  steered_pool pool(4);
  pool.goal = 9;
  pool.feed(1000);
  EXPECT_DOUBLE_EQ(pool.controller.control(), 9);
  pool.goal = 2;
  pool.feed(1000);
  EXPECT_NEAR(pool.controller.control(), 2, 1e-12);
}

TEST(adaptive, step_1_a_change_that_was_told_is_not_counted_again) {
  steered_pool pool(4);
  pool.controller.goal_changed(7, decision_reason::starvation);
  pool.goal = 7;
  pool.feed(1000);
  EXPECT_DOUBLE_EQ(pool.controller.control(), 7);
}

TEST(adaptive, step_1_only_a_change_for_blocked_workers_keeps_the_sample_interval) {
  steered_pool pool(4);
  const auto before = pool.controller.interval();
  pool.controller.goal_changed(5, decision_reason::blocking);
  EXPECT_EQ(pool.controller.interval(), before);
  pool.controller.goal_changed(6, decision_reason::starvation);
  EXPECT_NE(pool.controller.interval(), before);
}

TEST(adaptive, step_2_what_coarse_samples_left_over_is_added_to_the_next) {
  steered_pool pool(4);
  pool.feed(1000);
  const unsigned goal = pool.goal;
  EXPECT_FALSE(pool.feed(1, 100ms).stored);
  EXPECT_FALSE(pool.feed(2, 50ms).stored);
  EXPECT_EQ(pool.goal, goal);
  const climb_step step = pool.feed(97, 250ms);
  EXPECT_TRUE(step.stored);
  EXPECT_DOUBLE_EQ(step.throughput, 100 / 0.4);
  EXPECT_DOUBLE_EQ(pool.feed(100, 100ms).throughput, 1000) << "nothing is left over any more";
}

TEST(adaptive, step_3_a_sample_is_coarse_from_an_error_of_15_percent_on) {
  steered_pool pool(4);
  EXPECT_TRUE(pool.feed(1).stored) << "the first sample is always stored";
  pool.goal = 4;
  const climb_step coarse = pool.feed(20);  // 3 / 20 = 0.15
  EXPECT_FALSE(coarse.stored);
  EXPECT_EQ(coarse.next, 10ms);
  EXPECT_EQ(coarse.goal, 4U);
  EXPECT_TRUE(pool.feed(1).stored) << "3 / 21 < 0.15";
}

TEST(adaptive, step_3_samples_without_completions_wait_and_do_no_harm) {
  steered_pool pool(4);
  EXPECT_TRUE(pool.feed(0).stored);
  for (int round = 0; round < 1000; ++round) {
    const climb_step step = pool.feed(0);
    ASSERT_FALSE(step.stored);
    ASSERT_EQ(step.next, 10ms);
    ASSERT_EQ(step.goal, pool.goal);
  }
  const climb_step step = pool.feed(1000);
  EXPECT_TRUE(step.stored);
  EXPECT_DOUBLE_EQ(step.throughput, 1000 / 100.1);
}

TEST(adaptive, step_3_zero_completions_of_a_single_worker_are_a_sample_of_zero) {
  steered_pool pool(1, 1, 1);
  for (int round = 0; round < 100; ++round) {
    const climb_step step = pool.feed(0);
    ASSERT_TRUE(step.stored);
    ASSERT_EQ(step.throughput, 0);
    ASSERT_EQ(step.move, 0) << "no analysis where a mean is zero";
    ASSERT_EQ(step.goal, 1U);
  }
  EXPECT_TRUE(std::isfinite(pool.controller.control()));
}

TEST(adaptive, step_4_throughput_is_completions_over_the_time_they_took) {
  steered_pool pool(4);
  EXPECT_DOUBLE_EQ(pool.feed(300, 150ms).throughput, 2000);
  EXPECT_FALSE(pool.feed(300, 0ms).stored) << "no time has passed: it goes on";
  EXPECT_DOUBLE_EQ(pool.feed(300, 100ms).throughput, 6000);
}

TEST(adaptive, step_5_the_analysis_begins_with_the_ninth_sample) {
  steered_pool pool(4);
  for (int sample = 1; sample <= 8; ++sample) {
    const climb_step step = pool.feed(1000 * pool.goal);
    EXPECT_EQ(step.reason, decision_reason::warm_up);
    EXPECT_EQ(step.move, 0);
  }
  const climb_step step = pool.feed(1000 * pool.goal);
  EXPECT_EQ(step.reason, decision_reason::climb);
  EXPECT_GT(step.move, 0);
}

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
      const climb_step step = pool.feed(completions, elapsed);
      ASSERT_TRUE(step.stored);
      const double seconds = std::chrono::duration<double>(elapsed).count();
      reference.add(static_cast<double>(completions) / seconds, seconds);
      compare(step, pool, reference);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(adaptive, steps_5_and_6_use_whole_waves_of_the_last_32_samples_less_one) {
  beside_the_reference(
      [](const climb_step& step, const steered_pool&, const climb_reference& plain) {
        ASSERT_NEAR(step.gain, plain.ratio.real(), 1e-6 * (1 + std::abs(plain.ratio.real())));
      });
}

TEST(adaptive, step_7_noise_is_the_stronger_neighbouring_band_smoothed_by_a_hundredth) {
  beside_the_reference(
      [](const climb_step& step, const steered_pool&, const climb_reference& plain) {
        ASSERT_NEAR(step.noise, plain.average_noise, 1e-9);
      });
}

TEST(adaptive, step_8_confidence_is_the_wave_over_three_times_the_noise) {
  beside_the_reference(
      [](const climb_step& step, const steered_pool&, const climb_reference& plain) {
        // Without noise both are a division by almost nothing.
        ASSERT_NEAR(std::min(step.confidence, 1.0), std::min(plain.confidence, 1.0), 1e-6);
      });
}

TEST(adaptive, step_8_without_a_wave_of_threads_nothing_moves) {
  steered_pool pool(3, 3, 3);
  for (unsigned sample = 0; sample < 50; ++sample) {
    const climb_step step = pool.feed(1000 + 500 * (sample % 4));
    ASSERT_EQ(step.gain, 0);
    ASSERT_EQ(step.move, 0);
    ASSERT_EQ(step.reason, sample < 8 ? decision_reason::warm_up : decision_reason::hold);
  }
}

TEST(adaptive, step_9_a_move_is_ratio_times_confidence_squared_times_4_a_second) {
  beside_the_reference(
      [](const climb_step& step, const steered_pool&, const climb_reference& plain) {
        ASSERT_NEAR(step.move, plain.move, 1e-5);
      });
}

TEST(adaptive, step_9_workers_that_bring_nothing_go_at_9_in_100_seconds) {
  steered_pool pool(50);
  for (int sample = 0; sample < 8; ++sample) pool.feed(1000);
  EXPECT_NEAR(pool.feed(1000).move, -0.15 * 0.15 * 4 * 0.1, 1e-9);
}

TEST(adaptive, step_9_a_move_up_is_at_most_20_and_one_down_is_not_limited) {
  steered_pool rising(4);
  rising.warm_up();
  // At the pace of before: 4 workers, whatever the time that the sample took.
  const climb_step up = rising.feed(std::uint64_t{10'000} * rising.goal * 3600, 3600s);
  EXPECT_EQ(up.move, 20);

  steered_pool falling(500);
  for (int sample = 0; sample < 8; ++sample) falling.feed(100'000);
  const climb_step down = falling.feed(std::uint64_t{1'000'000} * 3600, 3600s);
  EXPECT_NEAR(down.move, -0.15 * 0.15 * 4 * 3600, 1e-3);
}

TEST(adaptive, step_9_nothing_climbs_above_95_percent_of_the_cpus_but_it_may_fall) {
  steered_pool rising(4);
  rising.cpu = 0.951;
  rising.goal = 5;  // above the floor of 4: the wave goes on
  rising.min = 4;
  for (int sample = 0; sample < 200; ++sample) {
    const climb_step step = rising.feed(1000 * rising.goal);
    ASSERT_EQ(step.move, 0) << "every worker more brings its share, so nothing falls either";
    ASSERT_EQ(rising.controller.control(), 5);
  }
  steered_pool falling(10);
  falling.cpu = 1;
  for (int sample = 0; sample < 200; ++sample) falling.feed(1000);
  EXPECT_LT(falling.controller.control(), 10);
}

TEST(adaptive, step_9_nothing_climbs_while_a_worker_is_idle) {
  steered_pool pool(4);
  pool.idle = 1;
  pool.warm_up();
  EXPECT_EQ(pool.feed(1000 * pool.goal).move, 0);
  pool.idle = 0;
  EXPECT_GT(pool.feed(1000 * pool.goal).move, 0);
}

TEST(adaptive, step_9_a_move_goes_no_further_than_to_where_the_cpus_are_full) {
  steered_pool pool(10);
  pool.warm_up();
  pool.cpu = 0.90;
  const unsigned goal = pool.goal;
  const climb_step step = pool.feed(std::uint64_t{10'000} * pool.goal * 60, 60s);
  EXPECT_DOUBLE_EQ(step.move, goal * (0.95 / 0.90 - 1));
}

TEST(adaptive, step_9_upward_change_is_at_most_4_times_the_elapsed_time) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    steered_pool pool(2, 2, 1000);
    for (int sample = 0; sample < 400; ++sample) {
      const std::chrono::milliseconds elapsed(1 + static_cast<int>(random() % 3000));
      const double before = pool.controller.control();
      const climb_step step = pool.feed(10'000 + random() % 1'000'000, elapsed);
      const double seconds = std::chrono::duration<double>(elapsed).count();
      ASSERT_LE(step.move, 4 * seconds + 1e-9);
      ASSERT_LE(pool.controller.control() - before, 4 * seconds + 1e-9);
    }
  }
}

TEST(adaptive, step_10_the_wave_is_as_high_as_the_noise_asks_for) {
  std::set<unsigned> seen;
  beside_the_reference(
      [&](const climb_step&, const steered_pool& pool, const climb_reference& plain) {
        ASSERT_EQ(pool.controller.wave_magnitude(), plain.magnitude);
        seen.insert(plain.magnitude);
      });
  EXPECT_TRUE(seen.contains(1));
  EXPECT_TRUE(seen.contains(20)) << "the limit was never reached";
  EXPECT_GT(seen.size(), 10U);
}

TEST(adaptive, step_11_the_control_setting_leaves_room_for_the_wave_below_the_maximum) {
  std::mt19937_64 random(11);
  steered_pool pool(2, 2, 40);
  double highest = 0;
  for (int sample = 0; sample < 2000; ++sample) {
    pool.feed((900 + random() % 200) * pool.goal);
    ASSERT_GE(pool.controller.control(), 2);
    ASSERT_LE(pool.controller.control(), 40.0 - pool.controller.wave_magnitude());
    highest = std::max(highest, pool.controller.control() + pool.controller.wave_magnitude());
  }
  EXPECT_EQ(highest, 40) << "the maximum was never reached, so nothing was tested";
}

TEST(adaptive, step_12_the_goal_follows_a_square_wave_of_four_samples) {
  steered_pool pool(4);
  std::vector<unsigned> goals;
  for (int sample = 0; sample < 8; ++sample) goals.push_back(pool.feed(1000 * pool.goal).goal);
  EXPECT_EQ(goals, (std::vector<unsigned>{4, 5, 5, 4, 4, 5, 5, 4}));
}

TEST(adaptive, step_12_every_goal_is_that_of_the_plain_arithmetic_and_within_its_limits) {
  beside_the_reference(
      [](const climb_step& step, const steered_pool& pool, const climb_reference& plain) {
        ASSERT_NEAR(pool.controller.control(), plain.control, 1e-4);
        ASSERT_EQ(step.goal, plain.goal);
        ASSERT_GE(step.goal, 2U);
        ASSERT_LE(step.goal, 60U);
      });
}

TEST(adaptive, step_12_on_full_cpus_at_the_floor_there_is_no_wave) {
  steered_pool pool(4, 4);
  pool.cpu = 1;
  for (unsigned sample = 0; sample < 100; ++sample) {
    const climb_step step = pool.feed(10'000 + 3000 * (sample % 3));
    ASSERT_EQ(step.goal, 4U);
    ASSERT_EQ(step.reason, decision_reason::hold);
  }
  pool.cpu = 0.5;
  unsigned highest = 0;
  for (int sample = 0; sample < 4; ++sample) highest = std::max(highest, pool.feed(10'000).goal);
  EXPECT_GT(highest, 4U) << "the wave goes on when the CPUs are free";
}

TEST(adaptive, step_13_at_the_floor_samples_become_up_to_ten_times_rarer) {
  steered_pool pool(2, 2);
  bool ten_times = false;
  for (int sample = 0; sample < 200; ++sample) {
    // A worker more brings less than nothing.
    const climb_step step = pool.feed(1'000'000 / (pool.goal * pool.goal));
    if (step.gain < 0 && step.goal == 2) {
      const double factor = 10 * std::min(-step.gain, 1.0);
      const auto interval = static_cast<double>(pool.controller.interval().count());
      ASSERT_NEAR(static_cast<double>(step.next.count()), factor * interval, 1);
      ten_times = ten_times || step.gain <= -1;
    } else {
      ASSERT_EQ(step.next, pool.controller.interval());
    }
  }
  EXPECT_TRUE(ten_times);
}

TEST(adaptive, step_13_each_change_draws_a_new_interval_between_10_and_200_ms) {
  steered_pool pool(4);
  std::chrono::nanoseconds least = 1h;
  std::chrono::nanoseconds most = 0ns;
  for (int sample = 0; sample < 4000; ++sample) {
    const auto before = pool.controller.interval();
    const unsigned old_goal = pool.goal;
    const climb_step step = pool.feed(1000 * pool.goal);
    ASSERT_EQ(pool.controller.interval() != before, step.goal != old_goal);
    least = std::min(least, pool.controller.interval());
    most = std::max(most, pool.controller.interval());
  }
  EXPECT_GE(least, 10ms);
  EXPECT_LE(most, 200ms);
  EXPECT_LT(least, 11ms);
  EXPECT_GT(most, 199ms);
}

TEST(adaptive, the_seed_decides_the_intervals_and_nothing_else_is_random) {
  const auto run = [](std::uint64_t seed) {
    steered_pool pool(4, 1, 1000, {}, seed);
    std::vector<std::chrono::nanoseconds> intervals;
    for (int sample = 0; sample < 100; ++sample)
      intervals.push_back(pool.feed(1000 * pool.goal).next);
    return intervals;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

}  // namespace
