// pool_control_test.cpp: the control of a pool that is none: what it tells, when, and on whose word.
// SPDX-License-Identifier: MIT
#include "sizing/pool_control.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/sizing/controlled.hpp"
#include "runtime/support/adaptive_pool_support.hpp"

namespace {

using tandem::decision_reason;
using tandem::pool_action;
using tandem::detail::pool_control;
using tandem::test::controlled;
using tandem::test::noted_decision;
using tandem::test::quick;
using tandem::test::wait_until;

TEST(pool_control, a_worker_that_blocks_is_replaced_until_its_region_ends) {
  controlled of(quick(2, 10));
  EXPECT_EQ(of.control.goal(), 2U);
  of.control.region_began();
  EXPECT_EQ(of.control.goal(), 3U);
  EXPECT_EQ(of.pool.changed_by, 1);
  EXPECT_EQ(of.control.blocked(), 1U);
  of.control.region_ended();
  EXPECT_EQ(of.control.goal(), 2U);
  EXPECT_EQ(of.pool.changed_by, 0);
}

TEST(pool_control, the_goal_follows_the_threads_down_but_not_below_what_replaces_the_blocked) {
  controlled of(quick(2, 10));
  of.control.region_began();
  EXPECT_EQ(of.reconfigure(quick(6, 10)), 4) << "above the new minimum by the one that is blocked";
  EXPECT_EQ(of.control.goal(), 7U);
  of.reconfigure(quick(2, 10));
  const unsigned before = of.control.goal();
  of.pool.changed_by = 0;
  of.pool.take_notes();
  of.control.thread_retired(decision_reason::keep_alive);  // none is left
  EXPECT_EQ(of.control.goal(), 3U);
  EXPECT_EQ(of.pool.changed_by, 3 - static_cast<int>(before));
  const std::vector<noted_decision> expected{
      {pool_action::retire, decision_reason::keep_alive, before, before},
      {pool_action::change_goal, decision_reason::keep_alive, before, 3}};
  EXPECT_EQ(of.pool.take_notes(), expected);
}

TEST(pool_control, a_change_says_by_how_much_the_goal_has_moved_and_tells_the_pool_nothing) {
  controlled of(quick(2, 10));
  EXPECT_EQ(of.reconfigure(quick(5, 10)), 3);
  EXPECT_EQ(of.reconfigure(quick(2, 10)), 0) << "within the limits it stays";
  EXPECT_EQ(of.reconfigure(quick(1, 4)), -1);
  EXPECT_EQ(of.pool.changed_by, 0);
}

TEST(pool_control, where_nothing_is_decided_regions_move_nothing_and_no_timer_runs) {
  tandem::runtime_options fixed = quick(2, 10);
  fixed.adaptive.enabled = false;
  controlled of(fixed, false);
  EXPECT_EQ(of.control.goal(), pool_control::fixed_goal(fixed));
  of.control.region_began();
  of.wake_workers(1);
  EXPECT_EQ(of.control.goal(), pool_control::fixed_goal(fixed));
  EXPECT_EQ(of.pool.changed_by, 0);
  EXPECT_TRUE(of.pool.take_notes().empty());
  EXPECT_EQ(tandem::detail::timers_of(**of.rt).stats().started, 0U);
  of.control.region_ended();
}

TEST(pool_control, work_that_nobody_takes_gets_one_worker_more_and_somebody_is_woken) {
  controlled of(quick(1, 4));
  of.pool.waiting = 1;
  of.wake_workers(1);
  wait_until([&] { return of.pool.changed_by != 0 && of.pool.wakes != 0; });
  of.control.stop();
  EXPECT_EQ(of.control.goal(), 2U) << "the one that was added is not busy: no other comes";
  EXPECT_EQ(of.pool.changed_by, 1);
  const noted_decision expected{pool_action::change_goal, decision_reason::starvation, 1, 2};
  EXPECT_EQ(of.pool.take_notes().at(0), expected);
}

TEST(pool_control, a_sample_that_is_due_is_taken_by_whoever_answers_and_the_next_one_follows) {
  tandem::runtime_options options = quick(2, 4);
  options.adaptive.min_sample_interval = options.adaptive.max_sample_interval =
      std::chrono::milliseconds(1);
  controlled of(options);
  of.wake_workers(1);
  for (int sample = 0; sample < 3; ++sample) {
    wait_until([&] { return of.control.asks(); });
    of.control.answer();
  }
}

TEST(pool_control, whoever_is_asked_to_step_back_hears_it_once) {
  controlled of(quick(2, 4));
  EXPECT_FALSE(of.control.asks());
  of.control.ask(pool_control::too_many);
  EXPECT_TRUE(of.control.asks());
  of.control.answer();
  EXPECT_FALSE(of.control.asks());
}

TEST(pool_control, after_its_end_it_decides_nothing) {
  controlled of(quick(2, 10));
  of.control.stop();
  of.control.region_began();
  of.wake_workers(2);
  EXPECT_EQ(of.reconfigure(quick(6, 10)), 0);
  EXPECT_EQ(of.control.goal(), 2U);
  EXPECT_EQ(of.pool.changed_by, 0);
  EXPECT_EQ(tandem::detail::timers_of(**of.rt).stats().armed, 0U);
}

}  // namespace
