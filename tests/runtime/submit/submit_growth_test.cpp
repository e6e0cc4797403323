// submit_growth_test.cpp: when a pool adds threads for submissions, and when they go (lines 1 and 2).
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <vector>

#include "runtime/support/submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::growth_order;
using tandem::join_handle;
using tandem::queue_kind;
using tandem::runtime_options;
using tandem::worker_pool;

runtime_options bounded(unsigned min, unsigned max, growth_order growth, std::size_t capacity) {
  runtime_options options = pool_of(min, max, growth);
  options.submissions.queue = queue_kind::bounded;
  options.submissions.capacity = capacity;
  return options;
}

/// Submits blocking tasks until one is rejected; after each: threads, queued.
std::vector<std::pair<unsigned, std::size_t>> fill(test_runtime& rt, gate& closed,
                                                   std::vector<join_handle<void>>& handles) {
  std::vector<std::pair<unsigned, std::size_t>> seen;
  while (true) {
    try {
      handles.push_back(rt.workers().submit(closed.block()));
    } catch (const tandem::rejected&) {
      return seen;
    }
    const auto stats = rt.workers().stats();
    seen.emplace_back(stats.threads, stats.submissions);
  }
}

void end(gate& closed, std::vector<join_handle<void>>& handles) {
  closed.open();
  for (auto& each : handles) each.wait();
}

TEST(submit, core_2_max_4_queue_4_items_7_and_8_add_threads_and_item_9_is_rejected) {
  gate closed;
  test_runtime rt(bounded(2, 4, growth_order::queue_first, 4));
  EXPECT_EQ(rt.workers().stats().threads, 0U);
  std::vector<join_handle<void>> handles;
  const std::vector<std::pair<unsigned, std::size_t>> wanted = {{1, 0}, {2, 0}, {2, 1}, {2, 2},
                                                                {2, 3}, {2, 4}, {3, 4}, {4, 4}};
  EXPECT_EQ(fill(rt, closed, handles), wanted);
  wait_until([&] { return closed.inside() == 4; });
  EXPECT_EQ(rt.workers().stats().submissions, 4U);
  EXPECT_EQ(rt.workers().stats().rejections, 1U);
  std::string came;
  for (const auto& each : rt.workers().decisions())
    came += std::string(to_string(each.reason)) + ' ';
  EXPECT_EQ(came, "work work queue_full queue_full ");
  end(closed, handles);
  EXPECT_EQ(closed.passed(), 8);
}

TEST(submit, threads_first_goes_to_max_and_then_to_the_queue) {
  gate closed;
  test_runtime rt(bounded(1, 3, growth_order::threads_first, 2));
  std::vector<join_handle<void>> handles;
  const std::vector<std::pair<unsigned, std::size_t>> wanted = {
      {1, 0}, {2, 0}, {3, 0}, {3, 1}, {3, 2}};
  EXPECT_EQ(fill(rt, closed, handles), wanted);
  EXPECT_EQ(rt.workers().stats().goal, 3U);
  end(closed, handles);
}

TEST(submit, on_demand_takes_as_many_as_it_has_workers_and_places) {
  gate closed;
  test_runtime rt(bounded(2, 2, growth_order::demand, 3));
  std::vector<join_handle<void>> handles;
  const std::vector<std::pair<unsigned, std::size_t>> wanted = {
      {1, 0}, {2, 0}, {2, 1}, {2, 2}, {2, 3}};
  EXPECT_EQ(fill(rt, closed, handles), wanted);
  end(closed, handles);
}

TEST(submit, workers_that_wait_take_one_each_before_the_queue_and_the_next_is_rejected) {
  for (const growth_order growth :
       {growth_order::demand, growth_order::queue_first, growth_order::threads_first}) {
    test_runtime rt(bounded(3, 3, growth, 2));
    EXPECT_EQ(rt.workers().prestart_all_core_threads(), 3U);
    for (int round = 0; round < 20; ++round) {
      wait_until([&] { return rt.workers().stats().idle == 3; });
      gate closed;
      std::vector<join_handle<void>> handles;
      EXPECT_EQ(fill(rt, closed, handles).size(), 5U);
      EXPECT_EQ(rt.workers().stats().submissions, 2U);
      end(closed, handles);
      EXPECT_EQ(closed.passed(), 5);
    }
  }
}

TEST(submit, below_core_a_new_thread_comes_even_if_others_are_idle) {
  test_runtime rt(bounded(2, 4, growth_order::queue_first, 4));
  std::atomic<int> ran{0};
  rt.workers().submit(count_up(ran)).wait();
  wait_until([&] { return rt.workers().stats().idle == 1; });
  rt.workers().submit(count_up(ran)).wait();
  EXPECT_EQ(rt.workers().stats().threads, 2U);
  wait_until([&] { return rt.workers().stats().idle == 2; });
  rt.workers().submit(count_up(ran)).wait();
  EXPECT_EQ(rt.workers().stats().threads, 2U);
}

TEST(submit, an_idle_worker_comes_before_a_new_thread_where_threads_come_first) {
  test_runtime rt(bounded(1, 3, growth_order::threads_first, 2));
  std::atomic<int> ran{0};
  for (int i = 0; i < 5; ++i) {
    rt.workers().submit(count_up(ran)).wait();
    wait_until([&] { return rt.workers().stats().idle == 1; });
  }
  EXPECT_EQ(rt.workers().stats().threads, 1U);
}

TEST(submit, the_state_is_looked_at_before_a_thread_is_added) {
  for (const growth_order growth :
       {growth_order::demand, growth_order::queue_first, growth_order::threads_first}) {
    test_runtime rt(bounded(2, 4, growth, 4));
    rt.workers().shutdown();
    std::atomic<int> ran{0};
    EXPECT_THROW(rt.workers().submit(count_up(ran)).detach(), tandem::rejected);
    EXPECT_EQ(rt.workers().stats().threads, 0U);
  }
}

TEST(submit, a_pool_that_is_shutting_down_adds_no_thread_though_it_could) {
  for (const growth_order growth :
       {growth_order::demand, growth_order::queue_first, growth_order::threads_first}) {
    gate closed;
    test_runtime rt(bounded(2, 4, growth, 4));
    auto running = rt.workers().submit(closed.block());
    wait_until([&] { return closed.inside() == 1; });
    rt.workers().shutdown();
    std::atomic<int> ran{0};
    EXPECT_THROW(rt.workers().submit(count_up(ran)).detach(), tandem::rejected);
    EXPECT_EQ(rt.workers().stats().threads, 1U);
    closed.open();
    running.wait();
  }
}

TEST(submit, with_no_worker_left_a_submission_starts_one) {
  for (const growth_order growth :
       {growth_order::demand, growth_order::queue_first, growth_order::threads_first}) {
    runtime_options options = bounded(1, 2, growth, 1);
    options.allow_core_timeout = true;
    options.keep_alive = 1ms;
    test_runtime rt(options);
    std::atomic<int> ran{0};
    for (int i = 0; i < 3; ++i) {
      rt.workers().submit(count_up(ran)).wait();
      wait_until([&] { return rt.workers().stats().threads == 0; });
    }
    EXPECT_EQ(ran.load(), 3);
  }
}

TEST(submit, threads_above_core_end_after_keep_alive_and_come_again) {
  for (const growth_order growth : {growth_order::queue_first, growth_order::threads_first}) {
    runtime_options options = bounded(2, 4, growth, 4);
    options.keep_alive = 5ms;
    test_runtime rt(options);
    for (int round = 0; round < 3; ++round) {
      gate closed;
      std::vector<join_handle<void>> handles;
      for (int i = 0; i < 8; ++i) handles.push_back(rt.workers().submit(closed.block()));
      EXPECT_EQ(rt.workers().stats().threads, 4U);
      end(closed, handles);
      wait_until([&] {
        const auto stats = rt.workers().stats();
        return stats.threads == 2 && stats.idle == 2;
      });
    }
  }
}

TEST(submit, core_threads_may_end_too_and_what_is_spawned_brings_them_back) {
  runtime_options options = pool_of(2, 2, growth_order::demand);
  options.allow_core_timeout = true;
  options.keep_alive = 1ms;
  test_runtime rt(options);
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> ran{0};
    rt.run(count_up(ran));
    EXPECT_EQ(ran.load(), 1);
    if (i % 2 == 0) wait_until([&] { return rt.workers().stats().threads == 0; });
  }
}

TEST(submit, core_timeout_without_keep_alive_is_refused_by_name) {
  EXPECT_NE(refused_options([](runtime_options& options) {
              options.allow_core_timeout = true;
              options.keep_alive = 0s;
            }).find("allow_core_timeout"),
            std::string::npos);
}

TEST(submit, core_threads_can_be_started_before_there_is_work) {
  for (const growth_order growth :
       {growth_order::demand, growth_order::queue_first, growth_order::threads_first}) {
    test_runtime rt(pool_of(3, 5, growth));
    worker_pool& pool = rt.workers();
    EXPECT_TRUE(pool.prestart_core_thread());
    EXPECT_EQ(pool.stats().threads, 1U);
    EXPECT_EQ(pool.prestart_all_core_threads(), 2U);
    EXPECT_EQ(pool.stats().threads, 3U);
    EXPECT_FALSE(pool.prestart_core_thread());
    EXPECT_EQ(pool.prestart_all_core_threads(), 0U);
    wait_until([&] { return pool.stats().idle == 3; });
    pool.shutdown();
    EXPECT_TRUE(pool.await_termination(1h));
    EXPECT_FALSE(pool.prestart_core_thread());
  }
}

TEST(submit, a_runtime_without_threads_has_none_to_start) {
  test_runtime rt(with_threads(0));
  EXPECT_FALSE(rt.workers().prestart_core_thread());
  std::atomic<int> ran{0};
  rt.workers().submit(count_up(ran)).wait();
  EXPECT_EQ(ran.load(), 1);
}

TEST(submit, an_order_of_growth_that_cannot_be_is_refused_by_name) {
  EXPECT_NE(refused_options([](runtime_options& options) {
              options.growth = growth_order::queue_first;
              options.min_threads = 4;
              options.max_threads = 2;
            }).find("max_threads"),
            std::string::npos);
}

}  // namespace
