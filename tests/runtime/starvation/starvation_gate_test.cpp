// starvation_gate_test.cpp: when a worker is added, and when the gate sleeps.
// SPDX-License-Identifier: MIT
#include "starvation/starvation_gate.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tandem::adaptive_options;
using tandem::detail::gate_outcome;
using tandem::detail::gate_reading;
using tandem::detail::starvation_gate;

/// Four workers are busy, work waits, and nothing has moved for so long.
gate_reading starved(std::chrono::nanoseconds since_dequeue = 1h) {
  gate_reading reading(4, 4, 100);
  reading.now = since_dequeue;
  reading.work_requested = true;
  return reading;
}

/// The gate of a pool whose last item was dequeued at 0.
unsigned goal_after(const gate_reading& reading) {
  starvation_gate gate{adaptive_options()};
  gate.begin(0s, reading.dequeued);
  return gate.round(reading).goal;
}

TEST(starvation_gate, starved_work_gets_one_worker_more_than_are_processing) {
  EXPECT_EQ(goal_after(starved()), 5U);
  gate_reading above_goal = starved();
  above_goal.processing = 6;
  EXPECT_EQ(goal_after(above_goal), 7U);
}

TEST(starvation_gate, nothing_is_added_unless_work_waits) {
  gate_reading reading = starved();
  reading.work_requested = false;
  EXPECT_EQ(goal_after(reading), 4U);
}

TEST(starvation_gate, nothing_is_added_while_a_worker_below_the_goal_is_free) {
  gate_reading reading = starved();
  for (unsigned processing = 0; processing < 4; ++processing) {
    reading.processing = processing;
    EXPECT_EQ(goal_after(reading), 4U);
  }
}

TEST(starvation_gate, the_maximum_is_never_passed) {
  gate_reading reading = starved();
  reading.max = 4;
  EXPECT_EQ(goal_after(reading), 4U);
  reading.processing = 7;
  EXPECT_EQ(goal_after(reading), 4U) << "more of them run than may";
}

TEST(starvation_gate, nothing_is_added_where_a_quota_is_used_up_by_those_that_compute) {
  gate_reading reading = starved(1h);
  reading.has_quota = true;
  reading.cpu = 0.95;
  EXPECT_EQ(goal_after(reading), 4U);
  reading.cpu = 0.94;
  EXPECT_EQ(goal_after(reading), 5U) << "somebody may be blocked";
  reading.cpu = 1;
  reading.has_quota = false;
  EXPECT_EQ(goal_after(reading), 5U) << "the CPUs are shared, and nobody is stopped";
}

TEST(starvation_gate, half_a_second_without_a_dequeue_is_starvation_below_80_percent_cpu) {
  // Less a tenth of a round: so long the worker that was added gets for its first item.
  for (const auto& [since, goal] : {std::pair(450ms, 5U), std::pair(449ms, 4U)}) {
    gate_reading reading = starved(since);
    reading.cpu = 0.79;
    EXPECT_EQ(goal_after(reading), goal);
  }
}

TEST(starvation_gate, on_busy_cpus_it_takes_a_second_for_each_worker) {
  for (const auto& [since, workers, goal] :
       {std::tuple(4000ms, 4U, 5U), std::tuple(3999ms, 4U, 4U), std::tuple(39'999ms, 40U, 40U)}) {
    gate_reading reading = starved(since);
    reading.cpu = 0.80;
    reading.goal = reading.processing = workers;
    EXPECT_EQ(goal_after(reading), goal);
  }
}

TEST(starvation_gate, limits_are_options) {
  adaptive_options options;
  options.starvation_delay = 100ms;
  options.gate_period = 10ms;
  options.starvation_cpu_busy = 0.5;
  options.starvation_busy_delay_per_thread = 10ms;
  EXPECT_EQ(starvation_gate::limit(options, 0.49, 7), 99ms);
  EXPECT_EQ(starvation_gate::limit(options, 0.50, 7), 70ms);
}

TEST(starvation_gate, an_item_that_was_dequeued_before_a_round_starts_the_delay_anew_at_the_round) {
  starvation_gate gate{adaptive_options()};
  gate.begin(0s, 10);
  gate_reading reading = starved(500ms);
  reading.dequeued = 11;
  EXPECT_EQ(gate.round(reading).goal, 4U);
  reading.now = 900ms;
  EXPECT_EQ(gate.round(reading).goal, 4U);
  reading.now = 1000ms;
  EXPECT_EQ(gate.round(reading).goal, 5U);
}

TEST(starvation_gate, while_only_those_that_it_adds_dequeue_one_comes_in_each_half_second) {
  starvation_gate gate{adaptive_options()};
  gate.begin(0s, 4);
  gate_reading reading(4, 4, 100);
  reading.work_requested = true;
  reading.dequeued = 4;
  std::chrono::nanoseconds next = 500ms;
  std::vector<std::chrono::milliseconds> came;
  while (came.size() < 5) {
    reading.now += next;
    const gate_outcome outcome = gate.round(reading);
    if (outcome.goal > reading.goal) {
      came.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(reading.now));
      reading.goal = reading.processing = outcome.goal;
      ++reading.dequeued;  // by the worker that has come, which then blocks
    }
    next = outcome.next;
  }
  EXPECT_EQ(came, (std::vector<std::chrono::milliseconds>{500ms, 1000ms, 1500ms, 2000ms, 2500ms}));
}

TEST(starvation_gate, it_sleeps_after_two_rounds_without_need) {
  starvation_gate gate{adaptive_options()};
  gate.begin(0s, 0);
  gate_reading idle(0, 4, 100);
  gate_reading busy(1, 4, 100);
  std::vector<bool> asleep;
  for (const gate_reading& reading : {idle, busy, idle, idle, idle, idle}) {
    asleep.push_back(gate.round(reading).sleep);
  }
  EXPECT_EQ(asleep, (std::vector<bool>{false, false, false, true, false, true}));
  gate_reading after_an_item = idle;
  after_an_item.dequeued = 1;
  EXPECT_FALSE(gate.round(idle).sleep);
  EXPECT_FALSE(gate.round(after_an_item).sleep) << "something was dequeued since";
}

TEST(starvation_gate, it_does_not_sleep_while_it_helps) {
  starvation_gate gate{adaptive_options()};
  gate.begin(0s, 0);
  gate_reading reading = starved();
  for (int round = 0; round < 20; ++round) {
    const gate_outcome outcome = gate.round(reading);
    ASSERT_FALSE(outcome.sleep);
    ASSERT_EQ(outcome.goal, reading.processing + (round % 2 == 0 ? 1 : 0)) << "every other looks";
    reading.processing = reading.goal = outcome.goal;
    reading.now += outcome.next;
  }
}

}  // namespace
