// hooks_test.cpp: laws of task hooks: who is told what, and when; their times are in hooks_times_test.cpp.
// SPDX-License-Identifier: MIT
#include <tandem/task_hooks.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <tandem/blocking.hpp>
#include <tandem/detail/observing.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/sleep.hpp>
#include <tandem/strand.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "event_log.hpp"
#include "recording_runtime.hpp"
#include "runtime/support/submit_support.hpp"
#include "simulated.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::runtime;
using tandem::runtime_options;
using tandem::task;
using tandem::task_event;
using tandem::task_outcome;
using tandem::test::event_log;
using tandem::test::recording_runtime;
using tandem::test::simulated;
using tandem::test::test_runtime;

task<void> move_about(tandem::executor& elsewhere, tandem::executor& back) {
  for (int i = 0; i < 20; ++i) {
    co_await tandem::resume_on(elsewhere);
    co_await tandem::resume_on(back);
  }
}

TEST(hooks, a_task_that_resumes_on_another_thread_has_all_its_time_accounted_for) {
  event_log log;
  {
    runtime_options options = tandem::test::with_threads(2);
    log.watch(options);
    test_runtime rt(options);
    tandem::single_thread_executor own(*rt, "own");
    rt.run(move_about(own, rt.workers()));
  }
  EXPECT_EQ(log.tasks(), 1U);
  EXPECT_EQ(log.end_event(0).segments, 41U);
  const std::set<int> workers = log.workers_of(0);
  EXPECT_TRUE(workers.contains(-1)) << "no segment was told of on the thread of its own";
  EXPECT_GE(workers.size(), 2U);
  EXPECT_TRUE(log.is_well_formed());
}

task<int> block_once() {
  auto call = [] { return 7; };
  co_return co_await tandem::blocking(call);
}

TEST(hooks, a_blocking_call_is_no_segment) {
  event_log log;
  {
    runtime_options options = tandem::test::with_threads(2);
    log.watch(options);
    test_runtime rt(options);
    EXPECT_EQ(rt.run(block_once()), 7);
  }
  EXPECT_EQ(log.end_event(0).segments, 2U);
  EXPECT_FALSE(log.workers_of(0).contains(-1));
  EXPECT_TRUE(log.is_well_formed());
}

task<void> use_strand(tandem::executor& strand) {
  for (int i = 0; i < 10; ++i) co_await tandem::yield();
  co_await tandem::resume_on(strand);
  for (int i = 0; i < 10; ++i) co_await tandem::yield();
}

TEST(hooks, segments_on_a_strand_are_told_as_all_others) {
  event_log log;
  {
    runtime_options options = tandem::test::with_threads(2);
    log.watch(options);
    test_runtime rt(options);
    tandem::strand strand(rt.workers());
    rt.run(use_strand(strand.executor()));
  }
  EXPECT_EQ(log.end_event(0).segments, 22U);
  EXPECT_TRUE(log.is_well_formed());
}

task<int> yield_and_return() {
  co_await tandem::yield();
  co_return 5;
}

TEST(hooks, a_hook_that_throws_harms_neither_worker_nor_task_and_is_reported) {
  runtime_options options = tandem::test::with_threads(2);
  options.hooks.on_task_begin = [](const task_event&) { throw std::runtime_error("begin"); };
  options.hooks.before_segment = [](const task_event&) { throw std::runtime_error("before"); };
  options.hooks.after_segment = [](const task_event&) { throw std::runtime_error("after"); };
  options.hooks.on_task_end = [](const task_event&) { throw std::runtime_error("end"); };
  recording_runtime rt(options);
  EXPECT_EQ(rt.run(yield_and_return()), 5);
  EXPECT_EQ(rt.run(yield_and_return()), 5);
  std::vector<std::string> seen = rt.suppressed();
  // The first segment may be told to have ended after the task has: then that is still to come.
  std::erase(seen, "after");
  EXPECT_EQ(seen, (std::vector<std::string>{"before", "before", "before", "before", "begin",
                                            "begin", "end", "end"}));
}

task<void> fail() {
  co_await tandem::yield();
  throw std::runtime_error("it failed");
}

task<void> wait_for_ever() { co_await tandem::sleep_for(24h * 365); }

TEST(hooks, an_end_says_how_the_task_ended) {
  event_log log;
  {
    runtime_options options = simulated(1);
    log.watch(options);
    runtime rt(options);
    EXPECT_THROW(rt.spawn(fail()).wait(), std::runtime_error);
    tandem::join_handle<void> waiting = rt.spawn(wait_for_ever());
    rt.run_until_idle();
    waiting.cancel();
    EXPECT_THROW(waiting.wait(), tandem::operation_cancelled);
    tandem::join_handle<void> queued = rt.spawn(wait_for_ever());
    EXPECT_EQ(queued.cancel(), tandem::cancel_result::removed_before_start);
    EXPECT_THROW(queued.wait(), tandem::operation_cancelled);
  }
  EXPECT_EQ(log.end_event(0).outcome, task_outcome::failed);
  EXPECT_EQ(log.end_event(1).outcome, task_outcome::cancelled);
  EXPECT_EQ(log.of_task(2),
            std::vector<std::string>{"end wait=0ms run=0ms suspended=0ms segments=0 removed"});
}

task<void> nothing() { co_return; }

TEST(hooks, a_discarded_submission_has_an_end_without_a_begin_and_a_rejected_one_is_no_task) {
  for (const bool discards : {true, false}) {
    event_log log;
    tandem::test::gate full;
    {
      runtime_options options = tandem::test::with_threads(1);
      options.submissions.queue = tandem::queue_kind::bounded;
      options.submissions.capacity = 1;
      options.submissions.when_saturated =
          discards ? tandem::saturation_policy::discard : tandem::saturation_policy::abort;
      log.watch(options);
      test_runtime rt(options);
      tandem::join_handle<void> busy = rt.workers().submit(full.block());
      tandem::test::wait_until([&] { return full.inside() == 1; });
      tandem::join_handle<void> queued = rt.workers().submit(nothing());
      if (discards) {
        tandem::join_handle<void> dropped = rt.workers().submit(nothing());
        EXPECT_THROW(dropped.wait(), tandem::operation_cancelled);
      } else {
        EXPECT_THROW((void)rt.workers().submit(nothing()), tandem::rejected);
      }
      full.open();
      busy.wait();
      queued.wait();
    }
    EXPECT_EQ(log.tasks(), discards ? 3U : 2U);
    EXPECT_EQ(log.count_of(task_outcome::removed), discards ? 1U : 0U);
    EXPECT_EQ(log.count_of(task_outcome::completed), 2U);
    EXPECT_TRUE(log.is_well_formed());
  }
}

TEST(hooks, the_end_is_told_before_anybody_else_hears_of_it) {
  event_log log;
  runtime_options options = tandem::test::with_threads(2);
  log.watch(options);
  test_runtime rt(options);
  for (std::size_t i = 1; i <= 200; ++i) {
    rt->spawn(nothing()).wait();
    ASSERT_EQ(log.count_of(task_outcome::completed), i);
  }
}

TEST(hooks, one_in_ten_tells_all_of_some_tasks_and_nothing_of_the_others) {
  constexpr std::size_t all = 2000;
  event_log log;
  {
    runtime_options options = tandem::test::with_threads(2);
    options.hooks.one_in = 10;
    log.watch(options);
    test_runtime rt(options);
    for (std::size_t i = 0; i < all; ++i) rt->spawn(yield_and_return()).detach();
  }
  // A hash chooses: 200 are expected, with a deviation of 13.
  EXPECT_GT(log.tasks(), 60U);
  EXPECT_LT(log.tasks(), 400U);
  EXPECT_TRUE(log.is_well_formed());
}

TEST(hooks, a_task_is_named_after_the_line_that_spawned_it) {
  event_log log;
  const std::source_location here = std::source_location::current();
  {
    runtime_options options = simulated(1);
    log.watch(options);
    runtime rt(options);
    rt.spawn(nothing()).wait();
  }
  const task_event end = log.end_event(0);
  EXPECT_EQ(end.spawned_at.line(), here.line() + 5);
  EXPECT_STREQ(end.spawned_at.file_name(), here.file_name());
  EXPECT_NE(end.id, 0U);
  EXPECT_EQ(end.worker, 0);
}

TEST(hooks, without_hooks_no_task_is_observed) {
  EXPECT_FALSE(tandem::detail::tasks_are_observed());
  {
    test_runtime plain;
    EXPECT_FALSE(tandem::detail::tasks_are_observed());
    runtime_options options = simulated(1);
    options.hooks.on_task_end = [](const task_event&) {};
    const runtime with_hooks(options);
    EXPECT_TRUE(tandem::detail::tasks_are_observed());
    EXPECT_EQ(plain.run(yield_and_return()), 5) << "a task of the other runtime is not touched";
  }
  EXPECT_FALSE(tandem::detail::tasks_are_observed());
}

task<void> compute(std::chrono::milliseconds time) {
  tandem::test::work(time);
  co_return;
}

TEST(hooks, the_example_of_the_header_finds_the_task_that_ran_too_long) {
  std::vector<tandem::task_event> slow;
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1, 1);
  options.hooks.on_task_end = [&slow](const tandem::task_event& task) {
    if (task.run > std::chrono::milliseconds(100)) slow.push_back(task);
  };
  tandem::runtime rt(options);
  rt.spawn(compute(100ms)).wait();
  rt.spawn(compute(101ms)).wait();
  ASSERT_EQ(slow.size(), 1U);
  EXPECT_EQ(slow[0].run, 101ms);
}

TEST(hooks, one_in_zero_is_refused_by_name) {
  runtime_options options = simulated(1);
  options.hooks.one_in = 0;
  try {
    const runtime rt(options);
    ADD_FAILURE() << "it was taken";
  } catch (const std::invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find("hooks.one_in"), std::string::npos);
  }
}

}  // namespace
