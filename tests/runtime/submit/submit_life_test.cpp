// submit_life_test.cpp: running, shutdown, stop, tidying, terminated.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <tandem/event.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "runtime/support/submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::event;
using tandem::growth_order;
using tandem::join_handle;
using tandem::pool_state;
using tandem::runtime_options;
using tandem::task;
using tandem::worker_pool;

/// Counts how often the hook is called.
runtime_options hooked(std::atomic<int>& ends, unsigned threads = 2) {
  runtime_options options = pool_of(threads, threads, growth_order::demand);
  options.on_terminated = [&ends] { ++ends; };
  return options;
}

task<void> wait_for(event& until) { co_await until.wait(); }

TEST(submit, the_states_follow_each_other_and_the_hook_runs_once_between_the_last_two) {
  std::vector<pool_state> seen;
  gate closed;
  worker_pool* pool = nullptr;
  runtime_options options = pool_of(1, 1, growth_order::demand);
  options.on_terminated = [&] { seen.push_back(pool->state()); };
  test_runtime rt(options);
  pool = &rt.workers();
  auto handle = pool->submit(closed.block());
  wait_until([&] { return closed.inside() == 1; });
  seen.push_back(pool->state());
  pool->shutdown();
  seen.push_back(pool->state());
  EXPECT_TRUE(pool->shutdown_now().empty());
  seen.push_back(pool->state());
  pool->shutdown();
  seen.push_back(pool->state());
  closed.open();
  EXPECT_TRUE(pool->await_termination(1h));
  seen.push_back(pool->state());
  const std::vector<pool_state> wanted = {pool_state::running, pool_state::shutdown,
                                          pool_state::stop,    pool_state::stop,
                                          pool_state::tidying, pool_state::terminated};
  EXPECT_EQ(seen, wanted);
  handle.wait();
}

TEST(submit, shutdown_runs_what_was_taken_and_refuses_the_rest) {
  std::atomic<int> ends{0};
  std::atomic<int> ran{0};
  gate closed;
  test_runtime rt(hooked(ends, 1));
  std::vector<join_handle<void>> handles;
  handles.push_back(rt.workers().submit(closed.block()));
  for (int i = 0; i < 100; ++i) handles.push_back(rt.workers().submit(count_up(ran)));
  rt.workers().shutdown();
  EXPECT_THROW(rt.workers().submit(count_up(ran)).detach(), tandem::rejected);
  EXPECT_THROW(rt->spawn(count_up(ran)).detach(), tandem::runtime_stopped);
  EXPECT_EQ(ends.load(), 0);
  closed.open();
  for (auto& each : handles) each.wait();
  EXPECT_TRUE(rt.workers().await_termination(1h));
  EXPECT_EQ(ran.load(), 100);
  EXPECT_EQ(ends.load(), 1);
  EXPECT_EQ(rt.workers().stats().threads, 0U);
}

TEST(submit, shutdown_now_gives_back_what_never_started_and_its_handles_are_cancelled) {
  std::atomic<int> ran{0};
  gate closed;
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  auto running = rt.workers().submit(closed.block());
  wait_until([&] { return closed.inside() == 1; });
  std::vector<join_handle<int>> numbers;
  for (int i = 0; i < 3; ++i) {
    numbers.push_back(rt.workers().submit([](int value) -> task<int> { co_return value; }(i)));
  }
  auto counting = rt.workers().submit(count_up(ran));
  auto given_back = rt.workers().shutdown_now();
  ASSERT_EQ(given_back.size(), 4U);
  for (auto& each : numbers) {
    try {
      (void)each.wait();
      ADD_FAILURE() << "it ran";
    } catch (const tandem::operation_cancelled& stopped) {
      EXPECT_EQ(stopped.reason(), tandem::stop_reason::shutdown);
    }
  }
  EXPECT_THROW(counting.wait(), tandem::operation_cancelled);
  closed.open();
  running.wait();
  EXPECT_TRUE(rt.workers().await_termination(1h));
  // The coroutines are whole: another pool runs them, the oldest first.
  test_runtime other;
  for (int i = 0; i < 3; ++i) {
    auto& each = given_back[static_cast<std::size_t>(i)];
    EXPECT_FALSE(each.holds<void>());
    EXPECT_THROW((void)each.take<void>(), std::logic_error);
    EXPECT_NE(std::string(each.submitted_at().file_name()).find("submit_life_test"),
              std::string::npos);
    EXPECT_EQ(other.workers().submit(each.take<int>()).wait(), i);
    EXPECT_FALSE(each.holds<int>());
  }
  EXPECT_EQ(ran.load(), 0);  // and the last one is destroyed with its holder
}

TEST(submit, shutdown_now_asks_what_runs_to_stop) {
  test_runtime rt(pool_of(2, 2, growth_order::demand));
  event never;
  event begun;
  auto waiting = rt.workers().submit([](event& sign, event& until) -> task<void> {
    sign.set();
    co_await until.wait();
  }(begun, never));
  rt.run(wait_for(begun));
  EXPECT_TRUE(rt.workers().shutdown_now().empty());
  EXPECT_THROW(waiting.wait(), tandem::operation_cancelled);
  EXPECT_TRUE(rt.workers().await_termination(1h));
}

TEST(submit, drained_counts_tasks_that_are_suspended) {
  std::atomic<int> ends{0};
  test_runtime rt(hooked(ends));
  event until;
  auto suspended = rt.workers().submit(wait_for(until));
  rt.workers().shutdown();
  wait_until([&] { return rt.workers().stats().idle == rt.workers().stats().threads; });
  EXPECT_FALSE(rt.workers().await_termination(1ms));
  EXPECT_EQ(rt.workers().state(), pool_state::shutdown);
  EXPECT_EQ(ends.load(), 0);
  until.set();
  EXPECT_TRUE(rt.workers().await_termination(1h));
  EXPECT_EQ(ends.load(), 1);
  suspended.wait();
}

TEST(submit, children_of_what_was_taken_still_run) {
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  std::atomic<int> ran{0};
  gate closed;
  auto first = rt.workers().submit(closed.block());
  auto parent = rt.workers().submit([](std::atomic<int>& count) -> task<void> {
    co_await tandem::yield();
    co_await tandem::spawn(count_up(count));
  }(ran));
  rt.workers().shutdown();
  closed.open();
  EXPECT_TRUE(rt.workers().await_termination(1h));
  EXPECT_EQ(ran.load(), 1);
  first.wait();
  parent.wait();
}

TEST(submit, a_worker_may_shut_its_own_pool_down_and_may_not_wait_for_that) {
  for (const bool now : {false, true}) {
    std::atomic<int> ends{0};
    test_runtime rt(hooked(ends));
    auto handle = rt.workers().submit([](worker_pool& pool, bool at_once) -> task<void> {
      pool.shutdown();
      if (at_once) {
        EXPECT_TRUE(pool.shutdown_now().empty());
      }
      pool.shutdown();
      EXPECT_THROW((void)pool.await_termination(1h), tandem::would_deadlock);
      co_return;
    }(rt.workers(), now));
    EXPECT_TRUE(rt.workers().await_termination(1h));
    EXPECT_EQ(ends.load(), 1);
    handle.wait();
  }
}

TEST(submit, many_threads_may_shut_down_at_once_and_the_hook_runs_once) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ends{0};
    std::atomic<int> ran{0};
    test_runtime rt(hooked(ends));
    std::vector<join_handle<void>> handles;
    for (int i = 0; i < 20; ++i) handles.push_back(rt.workers().submit(count_up(ran)));
    std::array<std::thread, 3> enders;
    for (auto& each : enders) {
      each = std::thread([&] {
        rt.workers().shutdown();
        EXPECT_TRUE(rt.workers().await_termination(1h));
        EXPECT_EQ(ends.load(), 1);
      });
    }
    for (auto& each : enders) each.join();
    EXPECT_EQ(ran.load(), 20);
    for (auto& each : handles) each.wait();
  }
}

TEST(submit, the_hook_may_not_wait_for_its_own_end) {
  runtime_options options = pool_of(1, 1, growth_order::demand);
  tandem::runtime* at = nullptr;
  bool refused = false;
  options.on_terminated = [&] {
    try {
      at->workers().await_termination(std::chrono::hours(1));
    } catch (const tandem::would_deadlock&) {
      refused = true;
    }
  };
  tandem::runtime rt(options);
  at = &rt;
  rt.workers().shutdown();  // there never was a worker: the hook runs here
  EXPECT_TRUE(refused);
  EXPECT_EQ(rt.workers().state(), tandem::pool_state::terminated);
  EXPECT_FALSE(rt.workers().prestart_core_thread());
}

TEST(submit, the_end_of_the_runtime_ends_the_pool_and_runs_the_hook_once) {
  std::atomic<int> ends{0};
  { const test_runtime never_used(hooked(ends)); }
  EXPECT_EQ(ends.load(), 1);
  {
    test_runtime used(hooked(ends));
    std::atomic<int> ran{0};
    used.run(count_up(ran));
    used->shutdown();
    EXPECT_EQ(used.workers().state(), pool_state::terminated);
  }
  EXPECT_EQ(ends.load(), 2);
  {
    test_runtime shut_before(hooked(ends));
    shut_before.workers().shutdown();
    EXPECT_TRUE(shut_before.workers().await_termination(0s));
  }
  EXPECT_EQ(ends.load(), 3);
}

TEST(submit, the_end_of_the_runtime_drops_what_has_not_started) {
  std::atomic<int> ran{0};
  gate closed;
  join_handle<void> first;
  join_handle<void> queued;
  {
    test_runtime rt(pool_of(1, 1, growth_order::demand));
    first = rt.workers().submit(closed.block());
    wait_until([&] { return closed.inside() == 1; });
    queued = rt.workers().submit(count_up(ran));
    std::thread ender([&] { rt->shutdown(); });
    wait_until([&] { return queued.is_done(); });
    closed.open();
    ender.join();
    first.wait();
    EXPECT_THROW(queued.wait(), tandem::operation_cancelled);
  }
  EXPECT_EQ(ran.load(), 0);
}

TEST(submit, what_the_hook_throws_is_reported_and_the_pool_terminates) {
  std::atomic<int> reports{0};
  runtime_options options = pool_of(2, 2, growth_order::demand);
  options.on_terminated = [] { throw std::runtime_error("planned"); };
  options.on_suppressed_exception = [&](const std::exception_ptr&) { ++reports; };
  test_runtime rt(options);
  std::atomic<int> ran{0};
  rt.run(count_up(ran));
  rt.workers().shutdown();
  EXPECT_TRUE(rt.workers().await_termination(1h));
  EXPECT_EQ(reports.load(), 1);
}

TEST(submit, a_pool_without_threads_terminates_when_its_driver_has_run_all) {
  std::atomic<int> ends{0};
  runtime_options options;
  options.clock = tandem::virtual_time(1, 2);
  options.on_terminated = [&ends] { ++ends; };
  test_runtime rt(options);
  std::atomic<int> ran{0};
  for (int i = 0; i < 3; ++i) rt.workers().submit(count_up(ran)).detach();
  rt.workers().shutdown();
  EXPECT_EQ(rt.workers().state(), pool_state::shutdown);
  EXPECT_TRUE(rt.workers().await_termination(1h));
  EXPECT_EQ(ran.load(), 3);
  EXPECT_EQ(ends.load(), 1);
}

TEST(submit, the_failure_of_a_detached_submission_reaches_the_handler_once_and_active) {
  std::atomic<int> told{0};
  runtime_options options = pool_of(1, 1, growth_order::demand);
  options.on_unhandled_exception = [&](const std::exception_ptr& failure) {
    EXPECT_THROW(std::rethrow_exception(failure), std::domain_error);
    ++told;
  };
  test_runtime rt(options);
  rt.workers()
      .submit([]() -> task<void> {
        throw std::domain_error("nobody waits for this");
        co_return;
      }())
      .detach();
  EXPECT_TRUE(rt->drain(1h));
  EXPECT_EQ(told.load(), 1);
  std::atomic<int> ran{0};
  rt.workers().submit(count_up(ran)).wait();  // by the same worker
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(rt.workers().stats().threads, 1U);
}

TEST(submit_death, without_a_handler_it_is_reported_and_terminates_with_it_active) {
  EXPECT_DEATH(
      {
        std::set_terminate([] {
          try {
            std::rethrow_exception(std::current_exception());
          } catch (const std::domain_error& active) {
            std::fprintf(stderr, "active: %s\n", active.what());
          }
          std::abort();
        });
        const tandem::runtime_options options = pool_of(1, 1, growth_order::demand);
        test_runtime rt(options);
        rt.workers()
            .submit([]() -> task<void> {
              throw std::domain_error("nobody waits for this");
              co_return;
            }())
            .detach();
        (void)rt->drain(1h);
      },
      "on_unhandled_exception.\nactive: nobody waits for this");
}

}  // namespace
