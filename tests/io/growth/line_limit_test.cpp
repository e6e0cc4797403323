// line_limit_test.cpp: one line a second, and a count of those that were left out.
// SPDX-License-Identifier: MIT
#include "growth/line_limit.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using time_point = std::chrono::steady_clock::time_point;

TEST(line_limit, the_first_line_is_due_whenever_it_comes) {
  EXPECT_TRUE(tandem::io::line_limit().is_due(time_point()));
  EXPECT_TRUE(tandem::io::line_limit().is_due(time_point() + 1h));
}

TEST(line_limit, the_next_line_is_due_a_second_after_the_last_one_that_was_written) {
  tandem::io::line_limit limit;
  const time_point start = time_point() + 1h;
  EXPECT_TRUE(limit.is_due(start));
  EXPECT_FALSE(limit.is_due(start));
  EXPECT_FALSE(limit.is_due(start + 999ms));
  EXPECT_TRUE(limit.is_due(start + 1s));
  EXPECT_FALSE(limit.is_due(start + 1999ms));
  EXPECT_TRUE(limit.is_due(start + 1h));
}

TEST(line_limit, what_was_left_out_is_told_once) {
  tandem::io::line_limit limit;
  const time_point start = time_point() + 1h;
  EXPECT_TRUE(limit.is_due(start));
  EXPECT_EQ(limit.take_left_out(), 0U);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(limit.is_due(start + 1ms));
  EXPECT_TRUE(limit.is_due(start + 1s));
  EXPECT_EQ(limit.take_left_out(), 3U);
  EXPECT_EQ(limit.take_left_out(), 0U);
}

}  // namespace
