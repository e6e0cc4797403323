// adaptive_pool_test.cpp: threads come when work cannot go on without them, and go when nobody needs them.
// SPDX-License-Identifier: MIT
//
// The rules that decide are tested on a simulated clock (adaptive_test.cpp); here are real threads,
// with short times, and nothing is expected to be quick: each test waits for what has to come.
#include <tandem/blocking_region.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <tandem/event.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "runtime/support/adaptive_pool_support.hpp"
#include "test_runtime.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::blocking_region;
using tandem::decision_reason;
using tandem::pool_action;
using tandem::pool_decision;
using tandem::runtime_options;
using tandem::task;
using tandem::test::count_of;
using tandem::test::quick;
using tandem::test::test_runtime;
using tandem::test::wait_until;

TEST(adaptive_pool, has_no_thread_before_its_first_item_and_one_for_each_of_the_first) {
  test_runtime rt(quick(4, 8));
  EXPECT_EQ(rt.workers().stats().threads, 0U);
  tandem::test::latch all_run(3);
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < 3; ++i) {
    handles.push_back(rt->spawn([](tandem::test::latch& here) -> task<void> {
      here.arrive_and_wait();
      co_return;
    }(all_run)));
  }
  for (auto& each : handles) each.wait();
  wait_until(
      [&] { return rt.workers().stats().threads >= 3; });  // its starter counts it, perhaps late
  EXPECT_LE(rt.workers().stats().threads, 4U);
}

/// So many tasks, each of which blocks its worker until all of them run.
void all_blocked_on_each_other(test_runtime& rt, int count) {
  tandem::test::latch all(count);
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < count; ++i) {
    handles.push_back(rt->spawn([](tandem::test::latch& here) -> task<void> {
      here.arrive_and_wait();
      co_return;
    }(all)));
  }
  for (auto& each : handles) each.wait();
}

TEST(adaptive_pool, workers_that_block_on_what_is_queued_are_joined_by_more_until_it_resolves) {
  test_runtime rt(quick(2, 64));
  all_blocked_on_each_other(rt, 12);
  // A thread is counted, and told of, by whoever started it, perhaps after it has run its first
  // item.
  wait_until([&] { return rt.workers().stats().threads >= 12; });
  wait_until([&] {
    return count_of(rt.workers().decisions(), pool_action::inject, decision_reason::starvation) > 0;
  });
}

/// Blocks its worker for each level.
int nest(tandem::worker_pool& pool, int depth) {
  if (depth == 0) return 1;
  tandem::test::thread_semaphore done(0);
  int result = 0;
  auto handle = tandem::spawn(
      pool,
      [](tandem::worker_pool& on, int left, int& out, tandem::test::thread_semaphore& end) -> task<void> {
        out = nest(on, left - 1);
        end.release();
        co_return;
      }(pool, depth, result, done));
  done.acquire();
  return result + 1;
}

TEST(adaptive_pool, nests_of_depth_eight_that_block_at_every_level_resolve) {
  test_runtime rt(quick(2, 64));
  std::vector<tandem::join_handle<int>> handles;
  for (int i = 0; i < 4; ++i) {
    handles.push_back(rt->spawn(
        [](tandem::worker_pool& pool) -> task<int> { co_return nest(pool, 8); }(rt.workers())));
  }
  for (auto& each : handles) EXPECT_EQ(each.wait(), 9);
}

TEST(adaptive_pool, never_has_more_than_max_threads) {
  test_runtime rt(quick(2, 5));
  std::atomic<int> inside{0};
  std::atomic<bool> go_on{false};
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < 20; ++i) {
    handles.push_back(rt->spawn([](std::atomic<int>& now, std::atomic<bool>& open) -> task<void> {
      ++now;
      while (!open.load()) std::this_thread::sleep_for(1ms);
      co_return;
    }(inside, go_on)));
  }
  wait_until([&] { return inside.load() == 5; });
  // The gate has many rounds to go wrong.
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(inside.load(), 5);
    EXPECT_LE(rt.workers().stats().threads, 5U);
  }
  go_on = true;
  for (auto& each : handles) each.wait();
}

TEST(adaptive_pool, a_fixed_pool_has_no_controller_and_stays_as_it_is) {
  runtime_options options = quick(2, 64);
  options.adaptive.enabled = false;
  test_runtime rt(options);
  std::atomic<int> ran{0};
  rt.run([](std::atomic<int>& count) -> task<void> {
    const blocking_region nothing_to_tell;
    ++count;
    co_return;
  }(ran));
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(rt.workers().stats().max_threads, 2U);
  for (const auto& each : rt.workers().decisions()) {
    EXPECT_EQ(each.action, pool_action::inject);
    EXPECT_EQ(each.reason, decision_reason::work);
  }
}

TEST(adaptive_pool, what_came_for_a_burst_goes_after_keep_alive_down_to_min) {
  runtime_options options = quick(2, 64);
  options.keep_alive = 20ms;
  test_runtime rt(options);
  for (int round = 0; round < 3; ++round) {
    all_blocked_on_each_other(rt, 10);
    wait_until([&] { return rt.workers().stats().threads == 2; });
    wait_until([&] { return rt.workers().stats().goal == 2; });
  }
  wait_until([&] {
    return count_of(rt.workers().decisions(), pool_action::retire, decision_reason::keep_alive) >=
           3U * 8U;
  });
  wait_until([&] { return rt.workers().stats().idle == 2; });
}

TEST(adaptive_pool, works_on_while_threads_come_and_go) {
  runtime_options options = quick(2, 32);
  options.keep_alive = 1ms;
  test_runtime rt(options);
  std::atomic<long> sum{0};
  const auto leaf = [](std::atomic<long>& to, int i) -> task<void> {
    if (i % 16 == 0) {
      const blocking_region region;
      std::this_thread::sleep_for(1ms);
    }
    co_await tandem::yield();
    to += i;
  };
  for (int round = 0; round < 20; ++round) {
    sum = 0;
    rt.run([](const auto& make, std::atomic<long>& to) -> task<void> {
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (int i = 0; i < 200; ++i) scope.spawn(make(to, i));
        co_return;
      });
    }(leaf, sum));
    EXPECT_EQ(sum.load(), 199 * 200 / 2);
    std::this_thread::sleep_for(2ms);
  }
}

TEST(adaptive_pool, reports_starvation_with_the_places_of_the_workers_that_are_stuck) {
  runtime_options options = quick(2, 2 + 1);
  options.starvation_threshold = 30ms;
  std::mutex lock;
  std::vector<tandem::starvation_report> told;
  options.on_starvation = [&](const tandem::starvation_report& report) {
    const std::lock_guard guard(lock);
    told.push_back(report);
  };
  test_runtime rt(options);
  std::atomic<bool> go_on{false};
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < 6; ++i) {
    handles.push_back(rt->spawn([](std::atomic<bool>& open) -> task<void> {
      while (!open.load()) std::this_thread::sleep_for(1ms);
      co_return;
    }(go_on)));
  }
  // A worker that a look has just seen begin has not been there for long; the next report says more.
  tandem::starvation_report last;
  wait_until([&] {
    const std::lock_guard guard(lock);
    if (told.empty()) return false;
    last = told.back();
    const auto& stuck = last.workers;
    return stuck.size() == 3 && last.waiting == 3 &&
           std::all_of(stuck.begin(), stuck.end(),
                       [](const auto& each) { return each.lasts > 0ms; });
  });
  go_on = true;
  for (auto& each : handles) each.wait();
  EXPECT_EQ(last.waiting, 3U);
  EXPECT_GE(last.lasts, 30ms);
  EXPECT_GE(last.oldest, last.lasts);
  EXPECT_EQ(last.max_threads, 3U);
  for (const auto& each : last.workers) {
    EXPECT_GT(each.lasts, 0ms);
    EXPECT_NE(std::string(each.spawned_at.file_name()).find("adaptive_pool_test"),
              std::string::npos);
  }
  const std::string text = to_string(last);
  EXPECT_NE(text.find("3 workers blocked"), std::string::npos) << text;
  EXPECT_NE(text.find("3 items wait; oldest "), std::string::npos) << text;
}

// Found by review: each thread that the gate added took an item, and there was a report only at
// max_threads.
TEST(adaptive_pool, reports_starvation_while_threads_still_come) {
  runtime_options options = quick(2, 1000);
  options.adaptive.gate_period = 20ms;
  options.adaptive.starvation_delay = 20ms;
  options.adaptive.starvation_busy_delay_per_thread = 1ms;
  options.starvation_threshold = 50ms;
  std::atomic<unsigned> threads{0};
  options.on_starvation = [&](const tandem::starvation_report& report) {
    threads = report.threads;
  };
  test_runtime rt(options);
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < 1000; ++i) {
    handles.push_back(rt->spawn([](std::atomic<unsigned>& told) -> task<void> {
      while (told == 0) std::this_thread::sleep_for(1ms);
      co_return;
    }(threads)));
  }
  for (auto& each : handles) each.wait();
  EXPECT_GE(threads.load(), 2U);
  EXPECT_LT(threads.load(), 1000U);
}

TEST(adaptive_pool, forked_children_that_their_worker_takes_back_do_not_count_as_items) {
  test_runtime rt(quick(1, 1));
  const auto items = [&] { return rt.workers().stats().items; };
  const std::uint64_t taken = rt.run([](auto count) -> task<std::uint64_t> {
    tandem::event both;
    const std::uint64_t before = count();
    co_await tandem::fork_join(
        [](tandem::event& other) -> task<void> { co_await other.wait(); }(both),
        [](tandem::event& other) -> task<void> {
          other.set();
          co_return;
        }(both));
    co_return count() - before;
  }(items));
  EXPECT_EQ(taken, 1U) << "the first child again, after the event";
}

TEST(adaptive_pool, what_is_thrown_by_who_hears_of_starvation_goes_to_the_handler_of_such) {
  runtime_options options = quick(1, 2);
  options.starvation_threshold = 10ms;
  options.adaptive.gate_period = 5ms;
  options.on_starvation = [](const tandem::starvation_report&) { throw 1; };
  std::atomic<int> suppressed{0};
  options.on_suppressed_exception = [&](const std::exception_ptr&) { ++suppressed; };
  test_runtime rt(options);
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < 4; ++i) {
    handles.push_back(rt->spawn([](std::atomic<int>& until) -> task<void> {
      while (until == 0) std::this_thread::sleep_for(1ms);
      co_return;
    }(suppressed)));
  }
  for (auto& each : handles) each.wait();
}

TEST(adaptive_pool, counts_tasks_apart_from_the_segments_in_which_they_run) {
  runtime_options options = quick(2, 8);
  options.adaptive.count = tandem::completion_count::tasks;
  test_runtime rt(options);
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < 10; ++i) {
    handles.push_back(rt->spawn([]() -> task<void> {
      for (int yields = 0; yields < 20; ++yields) co_await tandem::yield();
    }()));
  }
  for (auto& each : handles) each.wait();
  const auto stats = rt.workers().stats();
  EXPECT_EQ(stats.tasks, 10U);
  EXPECT_GE(stats.items, 10U * 20U);
}

TEST(adaptive_pool, decisions_are_told_in_their_order_and_the_last_two_hundred_stay) {
  runtime_options options = quick(1, 3);
  options.keep_alive = 1ms;
  test_runtime rt(options);
  for (int round = 0; round < 400 && rt.workers().decisions().size() < 200; ++round) {
    all_blocked_on_each_other(rt, 3);
    wait_until([&] { return rt.workers().stats().threads == 1; });
  }
  const auto decisions = rt.workers().decisions();
  EXPECT_EQ(decisions.size(), 200U);
  EXPECT_TRUE(std::is_sorted(decisions.begin(), decisions.end(),
                             [](const auto& a, const auto& b) { return a.when < b.when; }));
}

TEST(pool_options, what_cannot_be_is_refused_by_name) {
  const auto refused = [](auto change) -> std::string {
    runtime_options options;
    change(options);
    try {
      const tandem::runtime rt(options);
    } catch (const std::invalid_argument& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_NE(refused([](auto& o) { o.max_threads = 0; }).find("max_threads"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.max_threads = 5000; }).find("max_threads"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.keep_alive = 0s; }).find("keep_alive"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.starvation_threshold = -1s; }).find("starvation_threshold"),
            std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.adaptive.max_sample_error = 0; }).find("max_sample_error"),
            std::string::npos);
}

}  // namespace
