// hooks_times_test.cpp: queue wait, run and suspended time of tasks, to the nanosecond, by the virtual clock.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <tandem/event.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_hooks.hpp>
#include <tandem/when_all.hpp>
#include <vector>

#include "event_log.hpp"
#include "simulated.hpp"
#include "spin_for.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::runtime;
using tandem::runtime_options;
using tandem::task;
using tandem::task_event;
using tandem::test::event_log;
using tandem::test::simulated;
using tandem::test::spin_for;
using tandem::test::work;

/// For each of so many seeds: what hooks are told while the task that `make` gives, and all that it
/// spawns, runs to its end by a virtual clock.
template <class Make, class Check>
void for_each_seed(std::uint64_t seeds, unsigned workers, Make make, Check check) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    event_log log;
    {
      runtime_options options = simulated(seed, workers);
      log.watch(options);
      runtime rt(options);
      rt.spawn(make()).wait();
      rt.run_until_idle();
    }
    check(log);
  }
}

using shared_event = std::shared_ptr<tandem::event>;

task<void> wait_and_work(shared_event go) {
  work(2ms);
  co_await go->wait();
  work(4ms);
}

task<void> start_another() {
  const auto go = std::make_shared<tandem::event>();
  tandem::join_handle<void> other = tandem::spawn(wait_and_work(go));
  other.detach();
  work(3ms);
  co_await tandem::sleep_for(1ms);  // the other one runs, and waits
  work(20ms);
  go->set();
  work(7ms);
}

TEST(hooks_times, queue_wait_run_and_suspended_times_are_told_apart_and_exactly) {
  const std::vector<std::string> expected{
      "begin wait=3ms",   "before #1 wait=3ms",
      "after #1 run=2ms", "before #2 wait=7ms",
      "after #2 run=4ms", "end wait=10ms run=6ms suspended=20ms segments=2 completed",
  };
  for_each_seed(10, 1, &start_another,
                [&](const event_log& log) { EXPECT_EQ(log.of_task(1), expected); });
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
  for_each_seed(40, 1, &join_what_it_spawned, [](const event_log& log) {
    EXPECT_EQ(log.end_of(0), "end wait=0ms run=3ms suspended=5ms segments=2 completed");
    EXPECT_EQ(log.end_of(1), "end wait=1ms run=5ms suspended=0ms segments=1 completed");
  });
}

task<void> fork_four() {
  co_await tandem::fork_join(spend(1ms), spend(2ms), spend(3ms), spend(4ms));
}

TEST(hooks_times, forked_children_are_time_of_their_parent) {
  for_each_seed(20, 3, &fork_four, [](const event_log& log) {
    EXPECT_EQ(log.tasks(), 1U);
    const task_event end = log.end_event(0);
    EXPECT_EQ(end.run, 10ms);
    EXPECT_EQ(end.queue_wait + end.suspended, 0ms);
    EXPECT_TRUE(log.is_well_formed());
  });
}

task<void> sleep_and_work(std::chrono::milliseconds pause) {
  co_await tandem::sleep_for(pause);
  work(1ms);
}

task<void> wait_for_both() { co_await tandem::when_all(sleep_and_work(5ms), sleep_and_work(10ms)); }

TEST(hooks_times, children_of_when_all_are_one_task_which_is_suspended_while_all_of_them_are) {
  for_each_seed(20, 2, &wait_for_both, [](const event_log& log) {
    EXPECT_EQ(log.tasks(), 1U);
    const task_event end = log.end_event(0);
    EXPECT_EQ(end.queue_wait, 0ms);
    EXPECT_EQ(end.run, 2ms);
    EXPECT_EQ(end.suspended, 9ms);
    EXPECT_TRUE(log.is_well_formed());
  });
}

task<void> nothing() { co_return; }

TEST(hooks_times, a_worker_that_takes_the_next_task_at_once_begins_it_when_the_last_one_ended) {
  std::vector<task_event> begun;
  std::vector<task_event> ended;
  runtime_options options;
  options.min_threads = 0;
  options.hooks.before_segment = [&](const task_event& told) { begun.push_back(told); };
  options.hooks.after_segment = [&](const task_event& told) { ended.push_back(told); };
  runtime rt(options);
  tandem::job other([](tandem::job*) noexcept { spin_for(3ms); });
  rt.spawn(nothing()).detach();
  rt.spawn(nothing()).detach();
  rt.workers().post(&other);
  rt.spawn(nothing()).detach();
  rt.run_until_idle();
  rt.spawn(nothing()).detach();
  spin_for(3ms);
  rt.run_until_idle();
  ASSERT_EQ(begun.size(), 4U);
  ASSERT_EQ(ended.size(), 4U);
  EXPECT_EQ(begun[1].when, ended[0].when);
  // What is observed by nobody is nobody's time.
  EXPECT_GE(begun[2].when - ended[1].when, 2ms);
  EXPECT_GE(begun[3].queue_wait, 2ms) << "it was not at once that it was taken";
}

task<void> let_one_wait() {
  tandem::join_handle<void> child = tandem::spawn(nothing());
  spin_for(2ms);
  co_await child;
}

TEST(hooks_times,
     a_task_that_its_joiner_runs_has_waited_until_then_whether_or_not_the_joiner_is_told_of) {
  std::vector<task_event> begun;
  runtime_options options;
  options.min_threads = 0;
  options.hooks.one_in = 2;
  options.hooks.on_task_begin = [&](const task_event& told) { begun.push_back(told); };
  runtime rt(options);
  for (int i = 0; i < 60; ++i) {
    rt.spawn(nothing()).detach();
    rt.spawn(let_one_wait()).detach();
  }
  rt.run_until_idle();
  int children = 0;
  for (const task_event& each : begun) {
    if (std::string_view(each.spawned_at.function_name()).find("let_one_wait") ==
        std::string_view::npos)
      continue;
    ++children;
    EXPECT_GE(each.queue_wait, 1ms);
  }
  EXPECT_GT(children, 5) << "a hash chooses: 30 are expected, with a deviation of 4";
}

}  // namespace
