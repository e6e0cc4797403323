// blocking_adjustment_test.cpp: workers that say that they block, and how fast others take their place.
// SPDX-License-Identifier: MIT
#include "sizing/blocking_adjustment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tandem::adaptive_options;
using tandem::detail::blocking_adjustment;
using tandem::detail::blocking_outcome;
using tandem::detail::blocking_reading;

TEST(blocking_adjustment, up_to_one_per_cpu_above_min_is_replaced_at_once) {
  blocking_adjustment adjustment{adaptive_options()};
  const blocking_outcome few = adjustment.adjust(blocking_reading(3, 4, 4, 100, 4));
  EXPECT_EQ(few.goal, 7U);
  EXPECT_EQ(few.delay, 0ns);
  const blocking_outcome many = adjustment.adjust(blocking_reading(30, 7, 4, 100, 4));
  EXPECT_EQ(many.goal, 8U);
  EXPECT_EQ(many.delay, 25ms);
  EXPECT_EQ(adjustment.added(), 4U);
}

TEST(blocking_adjustment, beyond_that_one_comes_per_delay_and_delays_grow_to_250_ms) {
  blocking_adjustment adjustment{adaptive_options()};
  blocking_reading reading(60, 4, 4, 100, 4);
  std::vector<std::chrono::milliseconds> delays;
  while (reading.goal < 64) {
    const blocking_outcome outcome = adjustment.adjust(reading);
    ASSERT_GT(outcome.goal, reading.goal);
    if (reading.delay_elapsed) {
      ASSERT_EQ(outcome.goal, reading.goal + 1);
    }
    reading.goal = outcome.goal;
    reading.delay_elapsed = true;
    delays.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(outcome.delay));
  }
  // Goal 8 at once, then one by one: four with each step.
  std::vector<std::chrono::milliseconds> expected;
  for (unsigned goal = 8; goal < 64; ++goal) {
    expected.push_back(std::min(std::chrono::milliseconds(25) * (1 + (goal - 8) / 4), 250ms));
  }
  expected.push_back(0ms);
  EXPECT_EQ(delays, expected);
}

TEST(blocking_adjustment, before_the_delay_is_over_nothing_is_added) {
  blocking_adjustment adjustment{adaptive_options()};
  const blocking_outcome outcome = adjustment.adjust(blocking_reading(30, 8, 4, 100, 4));
  EXPECT_EQ(outcome.goal, 8U);
  EXPECT_EQ(outcome.delay, 25ms);
  EXPECT_EQ(adjustment.added(), 0U);
}

TEST(blocking_adjustment, threads_that_exist_are_used_without_delay) {
  blocking_adjustment adjustment{adaptive_options()};
  blocking_reading reading(30, 8, 4, 100, 4);
  reading.existing = 20;
  EXPECT_EQ(adjustment.adjust(reading).goal, 20U);
  reading.existing = 200;
  EXPECT_EQ(adjustment.adjust(reading).goal, 34U) << "no more than there are blocked workers";
}

TEST(blocking_adjustment, the_maximum_is_never_passed) {
  blocking_adjustment adjustment{adaptive_options()};
  blocking_reading reading(30, 4, 4, 6, 4);
  reading.existing = 50;
  const blocking_outcome outcome = adjustment.adjust(reading);
  EXPECT_EQ(outcome.goal, 6U);
  EXPECT_EQ(outcome.delay, 0ns) << "there is nothing to wait for";
}

TEST(blocking_adjustment, what_was_added_goes_when_the_regions_end_and_nothing_else) {
  blocking_adjustment adjustment{adaptive_options()};
  EXPECT_EQ(adjustment.adjust(blocking_reading(4, 4, 4, 100, 4)).goal, 8U);
  EXPECT_EQ(adjustment.adjust(blocking_reading(1, 8, 4, 100, 4)).goal, 5U);
  // The climb has added ten meanwhile: they stay.
  EXPECT_EQ(adjustment.adjust(blocking_reading(0, 15, 4, 100, 4)).goal, 14U);
  EXPECT_EQ(adjustment.adjust(blocking_reading(0, 14, 4, 100, 4)).goal, 14U);
  EXPECT_EQ(adjustment.added(), 0U);
}

// Found by review: what the climb had lowered was taken away a second time, from what the climb had
// added since.
TEST(blocking_adjustment, what_others_have_taken_away_is_not_taken_back_again) {
  blocking_adjustment adjustment{adaptive_options()};
  EXPECT_EQ(adjustment.adjust(blocking_reading(3, 2, 2, 100, 4)).goal, 5U);
  adjustment.lowered_to(3, 2);
  EXPECT_EQ(adjustment.added(), 1U);
  EXPECT_EQ(adjustment.adjust(blocking_reading(0, 3, 2, 100, 4)).goal, 2U);
  EXPECT_EQ(adjustment.added(), 0U);
  EXPECT_EQ(adjustment.adjust(blocking_reading(1, 6, 2, 100, 4)).goal, 6U) << "the climb's";
}

TEST(blocking_adjustment, the_delay_follows_its_options_and_cannot_overflow) {
  adaptive_options options;
  options.blocking_at_once_per_cpu = 2;
  options.blocking_per_step_per_cpu = 3;
  options.blocking_delay_step = 10ms;
  options.blocking_max_delay = 45ms;
  const auto delay = [&](unsigned goal) {
    return blocking_adjustment::delay(options, goal, 2, 1000, 4);
  };
  EXPECT_EQ(delay(9), 0ns);  // 2 + 2 x 4 are free of delay
  EXPECT_EQ(delay(10), 10ms);
  EXPECT_EQ(delay(21), 10ms);
  EXPECT_EQ(delay(22), 20ms);
  EXPECT_EQ(delay(999), 45ms);
  options.blocking_delay_step = 24h;
  options.blocking_max_delay = 24h;
  EXPECT_EQ(blocking_adjustment::delay(options, 4'000'000'000U, 1, 4'000'000'000U, 1), 24h);
}

}  // namespace
