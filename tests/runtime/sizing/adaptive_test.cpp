// adaptive_test.cpp: steps 1 to 8 of a hill-climbing update: what is made of the samples.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "runtime/sizing/steered_pool.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::decision_reason;
using tandem::detail::climb_step;
using tandem::test::beside_the_reference;
using tandem::test::climb_reference;
using tandem::test::steered_pool;

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

}  // namespace
