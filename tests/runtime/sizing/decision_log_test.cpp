// decision_log_test.cpp: what is kept of a pool's decisions, and in which order it is told.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <tandem/detail/decision_log.hpp>

namespace {

using namespace std::chrono_literals;
using tandem::decision_reason;
using tandem::pool_action;
using tandem::pool_decision;
using tandem::detail::decision_log;

pool_decision at(std::chrono::nanoseconds when) {
  return pool_decision(when, pool_action::inject, decision_reason::work, 1, 2, 2, 0, 0);
}

// Found by review: of two threads the one that had read the clock first may come second.
TEST(decision_log, tells_no_decision_before_one_that_was_noted_earlier) {
  decision_log log;
  for (const auto when : {1ms, 3ms, 2ms, 4ms}) log.add(at(when));
  const auto told = log.copy();
  ASSERT_EQ(told.size(), 4U);
  for (std::size_t i = 1; i < told.size(); ++i) EXPECT_LE(told[i - 1].when, told[i].when);
  EXPECT_EQ(told.back().when, 4ms);
}

TEST(decision_log, keeps_the_last_ones_and_counts_all) {
  decision_log log;
  for (std::size_t i = 0; i < decision_log::capacity + 5; ++i) log.add(at(i * 1ms));
  const auto told = log.copy();
  ASSERT_EQ(told.size(), decision_log::capacity);
  EXPECT_EQ(told.front().when, 5ms);
  EXPECT_EQ(log.counts()[static_cast<std::size_t>(pool_action::inject)]
                        [static_cast<std::size_t>(decision_reason::work)],
            decision_log::capacity + 5);
}

}  // namespace
