// hooks_times_test.cpp: queue wait, run and suspended time of tasks, to the nanosecond, by the virtual clock.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <tandem/detail/timer.hpp>
#include <tandem/event.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_hooks.hpp>
#include <tandem/when_all.hpp>
#include <vector>

#include "event_log.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::runtime;
using tandem::runtime_options;
using tandem::task;
using tandem::task_event;
using tandem::test::event_log;

runtime_options simulated(std::uint64_t seed, unsigned workers = 1) {
  runtime_options options;
  options.clock = tandem::virtual_time(seed, workers);
  return options;
}

/// Work that takes so much virtual time: nobody but the running task moves the clock meanwhile.
void work(std::chrono::nanoseconds time) {
  tandem::detail::timer_service& timers =
      tandem::detail::timers_of(*tandem::current_environment()->runtime());
  timers.advance_to(timers.now() + time);
}

task<void> wait_and_work(tandem::event& go) {
  work(2ms);
  co_await go.wait();
  work(4ms);
}

task<void> start_another(tandem::event& go) {
  tandem::join_handle<void> other = tandem::spawn(wait_and_work(go));
  other.detach();
  work(3ms);
  co_await tandem::sleep_for(1ms);  // the other one runs, and waits
  work(20ms);
  go.set();
  work(7ms);
}

TEST(hooks_times, line_6_queue_wait_run_and_suspended_times_are_told_apart_and_exactly) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    event_log log;
    tandem::event go;
    {
      runtime_options options = simulated(seed);
      log.watch(options);
      runtime rt(options);
      rt.spawn(start_another(go)).wait();
      rt.run_until_idle();
    }
    const std::vector<std::string> expected{
        "begin wait=3ms",   "before #1 wait=3ms",
        "after #1 run=2ms", "before #2 wait=7ms",
        "after #2 run=4ms", "end wait=10ms run=6ms suspended=20ms segments=2 completed",
    };
    EXPECT_EQ(log.of_task(1), expected) << "seed " << seed;
  }
}

task<void> spend(std::chrono::nanoseconds time) {
  work(time);
  co_return;
}

task<void> join_what_it_spawned() {
  tandem::join_handle<void> child = tandem::spawn(spend(5ms));
  work(1ms);
  co_await child;
  work(2ms);
}

TEST(hooks_times, a_task_that_its_joiner_runs_is_timed_apart_from_the_joiner) {
  // The seed decides whether the joiner calls it or waits: the times are the same.
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    event_log log;
    {
      runtime_options options = simulated(seed);
      log.watch(options);
      runtime rt(options);
      rt.spawn(join_what_it_spawned()).wait();
    }
    EXPECT_EQ(log.end_of(0), "end wait=0ms run=3ms suspended=5ms segments=2 completed");
    EXPECT_EQ(log.end_of(1), "end wait=1ms run=5ms suspended=0ms segments=1 completed");
  }
}

task<void> fork_four() {
  co_await tandem::fork_join(spend(1ms), spend(2ms), spend(3ms), spend(4ms));
}

TEST(hooks_times, forked_children_are_time_of_their_parent) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    event_log log;
    {
      runtime_options options = simulated(seed, 3);
      log.watch(options);
      runtime rt(options);
      rt.spawn(fork_four()).wait();
    }
    EXPECT_EQ(log.tasks(), 1U);
    const task_event end = log.end_event(0);
    EXPECT_EQ(end.run, 10ms);
    EXPECT_EQ(end.queue_wait + end.suspended, 0ms);
    EXPECT_TRUE(log.is_well_formed());
  }
}

task<void> sleep_and_work(std::chrono::milliseconds pause) {
  co_await tandem::sleep_for(pause);
  work(1ms);
}

task<void> wait_for_both() { co_await tandem::when_all(sleep_and_work(5ms), sleep_and_work(10ms)); }

TEST(hooks_times, children_of_when_all_are_one_task_which_is_suspended_while_all_of_them_are) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    event_log log;
    {
      runtime_options options = simulated(seed, 2);
      log.watch(options);
      runtime rt(options);
      rt.spawn(wait_for_both()).wait();
    }
    EXPECT_EQ(log.tasks(), 1U);
    const task_event end = log.end_event(0);
    EXPECT_EQ(end.queue_wait, 0ms);
    EXPECT_EQ(end.run, 2ms);
    EXPECT_EQ(end.suspended, 9ms);
    EXPECT_TRUE(log.is_well_formed());
  }
}

}  // namespace
