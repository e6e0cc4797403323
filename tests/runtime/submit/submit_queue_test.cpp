// submit_queue_test.cpp: the kinds of queues, and what they do not bound (lines 8 and 10).
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <tandem/fork_join.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "runtime/support/submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::growth_order;
using tandem::join_handle;
using tandem::queue_kind;
using tandem::runtime_options;
using tandem::saturation_policy;
using tandem::task;
using tandem::worker_pool;

task<void> note(std::vector<int>& order, int value) {
  order.push_back(value);
  co_return;
}

/// One worker, blocked; submits (value, priority) in this order, and says in which order they ran.
std::vector<int> order_of(queue_kind kind, const std::vector<std::pair<int, int>>& items) {
  runtime_options options = one_place(kind, saturation_policy::abort);
  if (kind != queue_kind::unbounded) options.submissions.capacity = items.size();
  gate closed;
  std::vector<int> order;
  test_runtime rt(options);
  std::vector<join_handle<void>> handles;
  handles.push_back(rt.workers().submit(closed.block()));
  wait_until([&] { return closed.inside() == 1; });
  for (const auto& [value, priority] : items) {
    handles.push_back(rt.workers().submit(note(order, value), priority));
  }
  closed.open();
  for (auto& each : handles) each.wait();
  return order;
}

TEST(submit, an_unbounded_queue_takes_all_and_keeps_their_order) {
  std::vector<std::pair<int, int>> items;
  std::vector<int> wanted;
  for (int i = 0; i < 10'000; ++i) {
    items.emplace_back(i, i % 7);  // no priority queue: no matter
    wanted.push_back(i);
  }
  EXPECT_EQ(order_of(queue_kind::unbounded, items), wanted);
}

TEST(submit, a_bounded_queue_keeps_the_order) {
  EXPECT_EQ(order_of(queue_kind::bounded, {{1, 0}, {2, 9}, {3, 5}, {4, 0}}),
            (std::vector<int>{1, 2, 3, 4}));
}

TEST(submit, a_priority_queue_runs_the_most_urgent_first_and_equals_in_their_order) {
  EXPECT_EQ(order_of(queue_kind::priority,
                     {{1, 0}, {2, 5}, {3, -1}, {4, 5}, {5, 0}, {6, 7}, {7, 5}, {8, -1}}),
            (std::vector<int>{6, 2, 4, 7, 1, 5, 3, 8}));
}

TEST(submit, a_rendezvous_hands_to_a_worker_that_waits_or_refuses) {
  test_runtime rt(one_place(queue_kind::rendezvous, saturation_policy::abort));
  for (int round = 0; round < 5; ++round) {
    gate closed;
    auto taken = rt.workers().submit(closed.block());
    EXPECT_EQ(rt.workers().stats().submissions, 0U);
    std::atomic<int> ran{0};
    EXPECT_THROW(rt.workers().submit(count_up(ran)).detach(), tandem::rejected);
    closed.open();
    taken.wait();
    EXPECT_EQ(ran.load(), 0);
    wait_until([&] { return rt.workers().stats().idle == 1; });
  }
  EXPECT_EQ(rt.workers().stats().rejections, 5U);
}

TEST(submit, a_rendezvous_adds_threads_up_to_max_in_every_order_of_growth) {
  for (const growth_order growth : {growth_order::queue_first, growth_order::threads_first}) {
    runtime_options options = pool_of(1, 3, growth);
    options.submissions.queue = queue_kind::rendezvous;
    gate closed;
    test_runtime rt(options);
    std::vector<join_handle<void>> handles;
    for (int i = 0; i < 3; ++i) handles.push_back(rt.workers().submit(closed.block()));
    EXPECT_EQ(rt.workers().stats().threads, 3U);
    EXPECT_THROW(rt.workers().submit(closed.block()).detach(), tandem::rejected);
    closed.open();
    for (auto& each : handles) each.wait();
  }
}

/// What a task that was taken does while the queue is full: it resumes, spawns and forks.
task<int> works_on(gate& begun) {
  co_await begun.block();
  int sum = 0;
  for (int i = 0; i < 100; ++i) {
    co_await tandem::yield();
    sum += co_await tandem::spawn([]() -> task<int> { co_return 1; }());
  }
  const auto leaf = [](int value) -> task<int> { co_return value; };
  const auto [left, right] = co_await tandem::fork_join(leaf(10), leaf(20));
  co_return sum + left + right;
}

TEST(submit, only_submissions_are_bounded_what_was_taken_resumes_spawns_and_forks) {
  for (const queue_kind kind :
       {queue_kind::bounded, queue_kind::priority, queue_kind::rendezvous}) {
    gate begun;
    gate closed;
    test_runtime rt(one_place(kind, saturation_policy::abort));
    auto handle = rt.workers().submit(works_on(begun));
    wait_until([&] { return begun.inside() == 1; });
    join_handle<void> queued;
    if (kind != queue_kind::rendezvous) queued = rt.workers().submit(closed.block());
    EXPECT_THROW(rt.workers().submit(closed.block()).detach(), tandem::rejected);
    begun.open();
    closed.open();
    EXPECT_EQ(handle.wait(), 130);
    if (queued) queued.wait();
  }
}

TEST(submit, a_task_of_the_pool_submits_to_the_same_queue) {
  test_runtime rt(one_place(queue_kind::bounded, saturation_policy::abort));
  std::atomic<int> ran{0};
  rt.run([](worker_pool& pool, std::atomic<int>& count) -> task<void> {
    auto first = pool.submit(count_up(count));
    EXPECT_THROW(pool.submit(count_up(count)).detach(), tandem::rejected);
    EXPECT_EQ(pool.stats().submissions, 1U);
    co_await first;
  }(rt.workers(), ran));
  EXPECT_EQ(ran.load(), 1);
}

TEST(submit, options_of_the_queue_that_contradict_each_other_are_refused_by_name) {
  const auto names = [](const std::string& text, const char* option) {
    return text.find(option) != std::string::npos;
  };
  using options = runtime_options;
  EXPECT_TRUE(names(refused_options([](options& o) {
                      o.submissions.queue = queue_kind::bounded;
                      o.submissions.capacity = 0;
                    }),
                    "submissions.capacity"));
  EXPECT_TRUE(names(refused_options([](options& o) { o.submissions.queue = queue_kind::bounded; }),
                    "submissions.capacity"));
  EXPECT_TRUE(names(refused_options([](options& o) { o.submissions.capacity = 5; }),
                    "submissions.capacity"));
  EXPECT_TRUE(names(refused_options([](options& o) {
                      o.min_threads = 0;
                      o.submissions.queue = queue_kind::rendezvous;
                    }),
                    "submissions.queue"));
  EXPECT_TRUE(names(refused_options([](options& o) {
                      o.clock = tandem::virtual_time(1, 2);
                      o.submissions.queue = queue_kind::rendezvous;
                    }),
                    "submissions.queue"));
}

task<int> parent_of(worker_pool& pool, int depth) {
  if (depth == 0) co_return 0;
  auto child = co_await pool.submit_when_free(parent_of(pool, depth - 1));
  co_return 1 + co_await child;
}

TEST(submit, a_task_that_awaits_a_child_on_the_same_one_thread_pool_completes) {
  for (const queue_kind kind :
       {queue_kind::unbounded, queue_kind::bounded, queue_kind::priority, queue_kind::rendezvous}) {
    test_runtime rt(one_place(kind, saturation_policy::suspend));
    EXPECT_EQ(rt.workers().submit(parent_of(rt.workers(), 50)).wait(), 50);
  }
}

TEST(submit, a_blocking_wait_for_a_child_on_a_worker_throws_instead_of_hanging) {
  test_runtime rt(one_place(queue_kind::bounded, saturation_policy::abort));
  rt.run([](worker_pool& pool) -> task<void> {
    std::atomic<int> ran{0};
    auto child = pool.submit(count_up(ran));
    EXPECT_THROW(child.wait(), tandem::would_deadlock);
    EXPECT_THROW(tandem::sync_wait(pool, count_up(ran)), tandem::would_deadlock);
    co_await child;
    EXPECT_EQ(ran.load(), 1);
  }(rt.workers()));
}

}  // namespace
