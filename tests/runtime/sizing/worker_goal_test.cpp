// worker_goal_test.cpp: who moves the goal of a pool, and what the others then know of it.
// SPDX-License-Identifier: MIT
#include "sizing/worker_goal.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "runtime/sizing/fake_pool.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::decision_reason;
using tandem::pool_action;
using tandem::detail::blocking_reading;
using tandem::test::noted_decision;

constexpr unsigned min = 2;
constexpr unsigned max = 100;

class goal_of_two {
 public:
  int set(unsigned wanted, decision_reason reason) { return goal.set(wanted, reason, min); }
  int block(unsigned workers) {
    return goal.adjust(blocking_reading(workers, goal.now(), min, max, 4)).change;
  }

  const tandem::adaptive_options options;
  tandem::test::fake_pool pool;
  tandem::detail::cpu_meter cpu;
  tandem::detail::worker_goal goal{pool, cpu, options, min, 1};
};

TEST(worker_goal, each_move_is_noted_and_says_by_how_much) {
  goal_of_two of;
  EXPECT_EQ(of.set(5, decision_reason::starvation), 3);
  EXPECT_EQ(of.set(5, decision_reason::keep_alive), 0) << "it stays";
  EXPECT_EQ(of.set(4, decision_reason::keep_alive), -1);
  EXPECT_EQ(of.goal.now(), 4U);
  const std::vector<noted_decision> expected{
      {pool_action::change_goal, decision_reason::starvation, 2, 5},
      {pool_action::change_goal, decision_reason::keep_alive, 5, 4}};
  EXPECT_EQ(of.pool.take_notes(), expected);
  EXPECT_EQ(of.pool.changed_by, 0) << "that is the caller's, without the lock";
}

TEST(worker_goal, whoever_asks_why_there_are_more_hears_who_raised_it_last) {
  goal_of_two of;
  EXPECT_EQ(of.goal.raised_for(), decision_reason::work);
  of.set(9, decision_reason::starvation);
  of.set(3, decision_reason::keep_alive);
  EXPECT_EQ(of.goal.raised_for(), decision_reason::starvation);
  of.block(4);
  EXPECT_EQ(of.goal.raised_for(), decision_reason::blocking);
}

TEST(worker_goal, what_others_take_away_is_not_taken_back_for_the_blocked_once_more) {
  goal_of_two of;
  EXPECT_EQ(of.block(3), 3);
  EXPECT_EQ(of.set(3, decision_reason::keep_alive), -2);
  EXPECT_EQ(of.set(8, decision_reason::starvation), 5);
  EXPECT_EQ(of.block(0), -1) << "of the three one was left";
  EXPECT_EQ(of.goal.now(), 7U);
}

TEST(worker_goal, beyond_one_for_each_cpu_it_says_when_to_ask_again) {
  goal_of_two of;
  const auto move = of.goal.adjust(blocking_reading(30, min, min, max, 4));
  EXPECT_EQ(move.change, 4);
  EXPECT_EQ(move.next, 25ms);
}

TEST(worker_goal, a_sample_moves_it_and_is_what_notes_then_tell) {
  goal_of_two of;
  const auto move = of.goal.climb(tandem::detail::climb_sample(min, min, max, 100ms, 1000));
  EXPECT_EQ(of.goal.now(), min + static_cast<unsigned>(move.change));
  EXPECT_GE(move.next, of.options.min_sample_interval);
  of.goal.note(pool_action::inject, decision_reason::work);
  EXPECT_DOUBLE_EQ(of.pool.noted_throughput(), 10'000);
}

TEST(worker_goal, once_nothing_is_decided_nobody_is_taken_away_for_regions_that_end) {
  goal_of_two of;
  EXPECT_EQ(of.block(3), 3);
  of.goal.decide_nothing(of.options);
  EXPECT_EQ(of.block(0), 0);
}

TEST(worker_goal, a_climb_that_begins_anew_leaves_what_stands_in_for_the_blocked) {
  goal_of_two of;
  EXPECT_EQ(of.block(3), 3);
  of.goal.begin_anew(tandem::detail::adaptive_controller(of.options, 5, 7), of.options);
  EXPECT_EQ(of.block(0), -3);
}

}  // namespace
