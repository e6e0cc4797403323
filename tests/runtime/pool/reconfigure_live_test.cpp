// reconfigure_live_test.cpp: the last hook and the timing of tasks change while a pool runs.
// SPDX-License-Identifier: MIT
#include <tandem/pool_change.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <tandem/event.hpp>
#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>
#include <utility>
#include <vector>

#include "runtime/support/reconfigure_support.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::growth_order;
using tandem::join_handle;
using tandem::pool_change;
using tandem::runtime_metrics;
using tandem::runtime_options;
using tandem::task;

pool_change ends_by(std::function<void()> hook) {
  pool_change change;
  change.on_terminated = std::move(hook);
  return change;
}

pool_change timed(std::uint32_t one_in) {
  pool_change change;
  change.timed_tasks_one_in = one_in;
  return change;
}

TEST(reconfigure, only_the_last_of_several_hooks_hears_of_the_end) {
  std::atomic<int> first{0};
  std::atomic<int> second{0};
  runtime_options options = pool_of(1, 1, growth_order::demand);
  options.on_terminated = [&] { ++first; };
  test_runtime rt(options);
  rt.workers().reconfigure(ends_by([&] { ++second; }));
  rt.workers().shutdown();
  EXPECT_TRUE(rt.workers().await_termination(1h));
  EXPECT_EQ(first.load(), 0);
  EXPECT_EQ(second.load(), 1);
}

TEST(reconfigure, a_pool_may_be_told_to_end_without_a_hook) {
  std::atomic<int> ends{0};
  runtime_options options = pool_of(1, 1, growth_order::demand);
  options.on_terminated = [&] { ++ends; };
  test_runtime rt(options);
  rt.workers().reconfigure(ends_by(nullptr));
  rt.workers().shutdown();
  EXPECT_TRUE(rt.workers().await_termination(1h));
  EXPECT_EQ(ends.load(), 0);
}

TEST(reconfigure, a_hook_that_is_replaced_while_it_runs_lives_until_it_returns) {
  tandem::test::flag inside;
  tandem::test::flag go_on;
  std::atomic<bool> held_in_the_end{false};
  std::atomic<int> late{0};
  auto held = std::make_shared<int>(42);
  const std::weak_ptr<int> watched = held;
  std::function<void()> hook = [&, held] {
    inside = true;
    go_on.wait(false);
    held_in_the_end = !watched.expired() && *held == 42;
  };
  held.reset();
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  rt.workers().reconfigure(ends_by(std::exchange(hook, nullptr)));
  std::atomic<int> ran{0};
  rt.run(count_up(ran));  // a worker is the one that ends
  rt.workers().shutdown();
  inside.wait(false);
  rt.workers().reconfigure(ends_by([&] { ++late; }));
  EXPECT_FALSE(watched.expired());
  go_on = true;
  EXPECT_TRUE(rt.workers().await_termination(1h));
  EXPECT_TRUE(held_in_the_end);
  EXPECT_EQ(late.load(), 0);
  wait_until([&] { return watched.expired(); });
}

TEST(reconfigure, tasks_are_timed_from_the_change_on_and_no_more_after_the_next) {
  runtime_options options;
  options.clock = tandem::virtual_time(1, 2);
  tandem::runtime rt(options);
  std::atomic<int> ran{0};
  const auto run = [&](int tasks) {
    for (int i = 0; i < tasks; ++i) rt.spawn(count_up(ran)).detach();
    rt.run_until_idle();
  };
  run(3);
  EXPECT_FALSE(rt.metrics().times_tasks);
  rt.workers().reconfigure(timed(1));
  EXPECT_EQ(rt.workers().options().timed_tasks_one_in, 1U);
  run(5);
  runtime_metrics now = rt.metrics();
  EXPECT_TRUE(now.times_tasks);
  EXPECT_EQ(now.run.count(), 5U);
  EXPECT_EQ(now.queue_wait.count(), 5U);
  rt.workers().reconfigure(timed(0));
  run(7);
  now = rt.metrics();
  EXPECT_TRUE(now.times_tasks);  // what has been counted stays
  EXPECT_EQ(now.run.count(), 5U);
  rt.workers().reconfigure(timed(1));
  run(2);
  EXPECT_EQ(rt.metrics().run.count(), 7U);
  EXPECT_EQ(ran.load(), 17);
}

TEST(reconfigure, tasks_that_were_there_before_are_not_timed_and_take_no_harm) {
  gate closed;
  tandem::event until;
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  auto waiting =
      rt.workers().submit([](tandem::event& sign) -> task<void> { co_await sign.wait(); }(until));
  auto running = rt.workers().submit(closed.block());
  wait_until([&] { return closed.inside() == 1; });
  std::atomic<int> ran{0};
  auto queued = rt.workers().submit(count_up(ran));
  rt.workers().reconfigure(timed(1));
  closed.open();
  until.set();
  running.wait();
  waiting.wait();
  queued.wait();
  EXPECT_EQ(rt->metrics().run.count(), 0U);
  rt.workers().submit(count_up(ran)).wait();
  // It is counted before anybody hears of its end.
  EXPECT_EQ(rt->metrics().run.count(), 1U);
  EXPECT_EQ(ran.load(), 2);
}

// A joiner runs what is still queued on its own stack, and its segment hands its time over: this
// one has none (records/segment).
TEST(reconfigure, what_is_joined_by_a_segment_that_began_before_is_timed_once) {
  gate closed;
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  std::atomic<int> ran{0};
  auto parent = rt.workers().submit([](gate& here, std::atomic<int>& count) -> task<void> {
    auto blocked = here.block();
    co_await std::move(blocked);
    auto child = tandem::spawn(count_up(count));
    co_await child;
  }(closed, ran));
  wait_until([&] { return closed.inside() == 1; });
  rt.workers().reconfigure(timed(1));
  closed.open();
  parent.wait();
  const runtime_metrics now = rt->metrics();
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(now.run.count(), 1U);
  EXPECT_EQ(now.queue_wait.count(), 1U);
}

TEST(reconfigure, tasks_may_change_what_is_timed_while_others_come_and_go) {
  test_runtime rt(pool_of(2, 2, growth_order::demand));
  std::atomic<int> ran{0};
  std::vector<join_handle<void>> handles;
  for (int i = 0; i < 200; ++i) {
    handles.push_back(rt->spawn(
        [](tandem::worker_pool& pool, std::atomic<int>& count, std::uint32_t one_in) -> task<void> {
          pool.reconfigure(timed(one_in));
          co_await tandem::spawn(count_up(count));
        }(rt.workers(), ran, static_cast<std::uint32_t>(i % 3))));
  }
  for (auto& each : handles) each.wait();
  EXPECT_EQ(ran.load(), 200);
  EXPECT_TRUE(rt->drain(1h));
}

// Who joins them is not observed itself, and meets the worker that runs them, and ends them.
TEST(reconfigure, tasks_from_before_join_timed_ones_while_others_run_them) {
  for (int round = 0; round < 60; ++round) {
    test_runtime rt(pool_of(2, 2, growth_order::demand));
    std::atomic<int> ran{0};
    rt.run([](tandem::worker_pool& pool, std::atomic<int>& count) -> task<void> {
      pool.reconfigure(timed(1));
      for (int i = 0; i < 20; ++i) {
        std::vector<join_handle<void>> children;
        for (int n = 0; n < 5; ++n) children.push_back(tandem::spawn(count_up(count)));
        for (auto& each : children) co_await std::move(each);
      }
    }(rt.workers(), ran));
    EXPECT_EQ(ran.load(), 100);
    EXPECT_TRUE(rt->drain(1h));
  }
}

}  // namespace
