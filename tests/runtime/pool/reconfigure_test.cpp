// reconfigure_test.cpp: threads come and go when the limits of a running pool change.
// SPDX-License-Identifier: MIT
#include <tandem/pool_change.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <tandem/runtime.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "runtime/support/reconfigure_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::growth_order;
using tandem::join_handle;
using tandem::pool_change;
using tandem::queue_kind;
using tandem::task;
using tandem::worker_pool;

TEST(reconfigure, raising_core_starts_threads_for_queued_work) {
  for (const growth_order growth : {growth_order::demand, growth_order::queue_first}) {
    gate closed;
    test_runtime rt(pool_of(1, 1, growth));
    auto handles = block(rt.workers(), closed, 5);
    wait_until([&] { return closed.inside() == 1; });
    EXPECT_EQ(rt.workers().stats().threads, 1U);
    rt.workers().reconfigure(threads_between(4, 4));
    wait_until([&] { return closed.inside() == 4; });
    EXPECT_EQ(rt.workers().stats().threads, 4U);
    EXPECT_EQ(rt.workers().size(), 4U);
    finish(closed, handles);
  }
}

TEST(reconfigure, raising_core_starts_no_thread_without_work) {
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  std::atomic<int> ran{0};
  rt.run(count_up(ran));
  wait_until([&] { return all_idle(rt.workers(), 1); });
  rt.workers().reconfigure(threads_between(8, 8));
  EXPECT_EQ(rt.workers().stats().threads, 1U);
}

TEST(reconfigure, raising_max_adds_threads_where_threads_come_first) {
  gate closed;
  test_runtime rt(pool_of(1, 2, growth_order::threads_first));
  auto handles = block(rt.workers(), closed, 6);
  wait_until([&] { return closed.inside() == 2; });
  rt.workers().reconfigure(threads_between(1, 5));
  wait_until([&] { return closed.inside() == 5; });
  EXPECT_EQ(rt.workers().stats().threads, 5U);
  finish(closed, handles);
}

TEST(reconfigure, raising_max_far_beyond_what_the_pool_was_made_with_works) {
  gate closed;
  test_runtime rt(pool_of(2, 2, growth_order::demand));
  auto handles = block(rt.workers(), closed, 60);
  wait_until([&] { return closed.inside() == 2; });
  rt.workers().reconfigure(threads_between(50, 50));
  wait_until([&] { return closed.inside() == 50; });
  EXPECT_EQ(rt.workers().stats().threads, 50U);
  finish(closed, handles);
}

TEST(reconfigure, raising_max_lets_in_who_waits_for_a_place) {
  gate closed;
  test_runtime rt(bounded(1, 1, growth_order::queue_first, 1));
  auto handles = block(rt.workers(), closed, 2);  // one runs, one is queued
  tandem::runtime other(pool_of(1, 1, growth_order::demand));
  auto waiter = other.spawn([](worker_pool& pool, gate& here) -> task<void> {
    auto done = co_await pool.submit_when_free(here.block());
    done.detach();
  }(rt.workers(), closed));
  wait_until([&] { return rt.workers().stats().waiting_submitters == 1; });
  rt.workers().reconfigure(threads_between(1, 2));
  waiter.wait();  // nobody has ended: the new thread has taken what was queued
  EXPECT_EQ(rt.workers().stats().threads, 2U);
  finish(closed, handles);
  EXPECT_TRUE(rt->drain(1h));
}

TEST(reconfigure, lowering_lets_idle_ones_go_at_once_if_they_were_idle_long_enough) {
  for (const growth_order growth : {growth_order::queue_first, growth_order::threads_first}) {
    test_runtime rt(pool_of(4, 4, growth));  // keep_alive: an hour
    EXPECT_EQ(rt.workers().prestart_all_core_threads(), 4U);
    wait_until([&] { return all_idle(rt.workers(), 4); });
    pool_change change;
    change.min_threads = 1;
    rt.workers().reconfigure(change);
    EXPECT_EQ(rt.workers().stats().threads, 4U);  // they may stay for an hour
    pool_change shorter;
    shorter.keep_alive = 1ns;
    rt.workers().reconfigure(shorter);
    wait_until([&] { return all_idle(rt.workers(), 1); });
  }
}

TEST(reconfigure, lowering_max_sends_idle_ones_away_whatever_keep_alive_says) {
  for (const growth_order growth :
       {growth_order::demand, growth_order::queue_first, growth_order::threads_first}) {
    test_runtime rt(pool_of(6, 6, growth));
    EXPECT_EQ(rt.workers().prestart_all_core_threads(), 6U);
    rt.workers().reconfigure(threads_between(2, 2));
    wait_until([&] { return all_idle(rt.workers(), 2); });
    EXPECT_EQ(rt.workers().stats().max_threads, 2U);
  }
}

TEST(reconfigure, threads_that_leave_because_max_is_lower_are_told_apart_from_idle_ones) {
  test_runtime rt(pool_of(4, 4, growth_order::demand));
  EXPECT_EQ(rt.workers().prestart_all_core_threads(), 4U);
  rt.workers().reconfigure(threads_between(1, 1));
  const auto left = [&] {
    std::size_t count = 0;
    for (const auto& each : rt.workers().decisions()) {
      if (each.action != tandem::pool_action::retire) continue;
      EXPECT_EQ(each.reason, tandem::decision_reason::outside_change);
      ++count;
    }
    return count;
  };
  wait_until([&] { return left() == 3; });
}

TEST(reconfigure, what_a_replaced_handler_held_may_change_the_pool_as_it_goes) {
  test_runtime rt(pool_of(1, 2, growth_order::demand));
  std::atomic<bool> gone{false};
  {
    const std::shared_ptr<int> last(new int(0), [&](const int* held) {
      delete held;
      pool_change longer;
      longer.keep_alive = 5s;
      rt.workers().reconfigure(longer);
      gone = true;
    });
    pool_change with_handler;
    with_handler.keep_alive = 3s;
    with_handler.when_saturated = tandem::saturation_policy::handler;
    with_handler.on_rejected = [last](const tandem::rejection&) {
      return tandem::saturation_policy::abort;
    };
    rt.workers().reconfigure(with_handler);
  }
  pool_change without;
  without.when_saturated = tandem::saturation_policy::abort;
  without.on_rejected = tandem::submission_options::rejection_handler();
  rt.workers().reconfigure(without);
  pool_change threads;
  threads.keep_alive = 4s;
  rt.workers().reconfigure(threads);
  EXPECT_TRUE(gone);
}

TEST(reconfigure, lowering_max_stops_no_item_and_busy_ones_leave_after_theirs) {
  for (const growth_order growth :
       {growth_order::demand, growth_order::queue_first, growth_order::threads_first}) {
    gate closed;
    test_runtime rt(pool_of(6, 6, growth));
    auto handles = block(rt.workers(), closed, 6);
    wait_until([&] { return closed.inside() == 6; });
    rt.workers().reconfigure(threads_between(1, 2));
    EXPECT_EQ(rt.workers().stats().threads, 6U);
    finish(closed, handles);
    EXPECT_EQ(closed.passed(), 6);
    wait_until([&] { return rt.workers().stats().threads <= 2; });
  }
}

// Found by review: of several that are too many only one stepped back.
TEST(reconfigure, workers_that_never_run_dry_step_back_until_no_more_run_than_may) {
  test_runtime rt(pool_of(6, 6, growth_order::demand));
  std::atomic<bool> enough{false};
  std::vector<join_handle<void>> handles;
  for (int i = 0; i < 60; ++i) {
    handles.push_back(rt->spawn([](std::atomic<bool>& end) -> task<void> {
      while (!end.load()) co_await tandem::yield();
    }(enough)));
  }
  wait_until([&] { return rt.workers().stats().threads == 6; });
  rt.workers().reconfigure(threads_between(2, 2));
  wait_until([&] { return rt.workers().stats().threads == 2; });
  enough = true;
  for (auto& each : handles) each.wait();
}

TEST(reconfigure, queue_first_counts_core_anew_when_it_changes) {
  gate closed;
  test_runtime rt(bounded(2, 4, growth_order::queue_first, 2));
  auto handles = block(rt.workers(), closed, 6);  // two of the core, two queued, two above it
  EXPECT_EQ(rt.workers().stats().threads, 4U);
  rt.workers().reconfigure(threads_between(3, 5));
  EXPECT_EQ(rt.workers().stats().threads, 4U);  // one of the core, one above it
  handles.push_back(rt.workers().submit(closed.block()));
  EXPECT_EQ(rt.workers().stats().threads, 5U);
  EXPECT_THROW(rt.workers().submit(closed.block()).detach(), tandem::rejected);
  pool_change change;
  change.keep_alive = 1ms;
  rt.workers().reconfigure(change);
  finish(closed, handles);
  wait_until([&] { return all_idle(rt.workers(), 3); });
}

TEST(reconfigure, queue_first_lowering_core_takes_no_thread_from_its_work) {
  gate first;
  gate second;
  test_runtime rt(pool_of(4, 4, growth_order::queue_first));
  rt.workers().reconfigure(
      threads_between(4, 4));  // from here on workers can be asked to step back
  auto handles = block(rt.workers(), first, 4);
  wait_until([&] { return first.inside() == 4; });
  for (auto& each : block(rt.workers(), second, 4)) handles.push_back(std::move(each));
  rt.workers().reconfigure(threads_between(1, 4));  // three are above the core now
  first.open();
  wait_until([&] { return second.inside() == 4; });
  finish(second, handles);
}

}  // namespace
