// pool_view_test.cpp: a pool without its setters.
// SPDX-License-Identifier: MIT
#include <tandem/pool_view.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <type_traits>

#include "runtime/support/submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::growth_order;
using tandem::pool_view;
using tandem::task;

template <class T>
concept can_be_changed =
    requires(T pool) { pool.reconfigure(tandem::pool_change()); } ||
    requires(T pool) { pool.shutdown(); } || requires(T pool) { pool.shutdown_now(); } ||
    requires(T pool) { pool.prestart_core_thread(); } || requires(T pool) { pool.owner(); };
static_assert(can_be_changed<tandem::worker_pool&>);
static_assert(!can_be_changed<pool_view>);
static_assert(!std::is_convertible_v<pool_view, tandem::worker_pool&>);
static_assert(std::is_trivially_copyable_v<pool_view>);

TEST(pool_view, submits_to_the_pool_and_tells_what_it_tells) {
  test_runtime rt(pool_of(1, 2, growth_order::queue_first));
  const pool_view view = rt.workers().view();
  std::atomic<int> ran{0};
  view.submit(count_up(ran)).wait();
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(view.name(), rt.workers().name());
  EXPECT_EQ(view.size(), 1U);
  EXPECT_EQ(view.stats().max_threads, 2U);
  EXPECT_EQ(view.state(), tandem::pool_state::running);
  EXPECT_EQ(view.decisions(), rt.workers().decisions());
  EXPECT_NE(view.describe().find("1 threads (1 to 2"), std::string::npos);
  EXPECT_FALSE(view.is_current());
  view.submit([](pool_view pool) -> task<void> {
        EXPECT_TRUE(pool.is_current());
        co_return;
      }(view))
      .wait();
  rt.workers().shutdown();
  EXPECT_NE(view.state(), tandem::pool_state::running);
  EXPECT_THROW(view.submit(count_up(ran)).detach(), tandem::rejected);
}

TEST(pool_view, waits_for_a_place_as_the_pool_does) {
  test_runtime rt(one_place(tandem::queue_kind::bounded, tandem::saturation_policy::suspend));
  std::atomic<int> ran{0};
  rt.run([](pool_view pool, std::atomic<int>& count) -> task<void> {
    for (int i = 0; i < 5; ++i) {
      auto done = co_await pool.submit_when_free(count_up(count));
      done.detach();
    }
  }(rt.workers().view(), ran));
  EXPECT_TRUE(rt->drain(1h));
  EXPECT_EQ(ran.load(), 5);
}

TEST(pool_view, follows_what_the_pool_is_changed_to) {
  test_runtime rt(pool_of(1, 2, growth_order::queue_first));
  const pool_view view = rt.workers().view();
  tandem::pool_change change;
  change.max_threads = 7;
  rt.workers().reconfigure(change);
  EXPECT_EQ(view.stats().max_threads, 7U);
}

TEST(pool_view, copies_are_views_of_the_same_pool) {
  test_runtime one(pool_of(1, 1, growth_order::demand));
  test_runtime other(pool_of(1, 1, growth_order::demand));
  pool_view view = one.workers().view();
  const pool_view copy = view;
  EXPECT_TRUE(copy == view);
  view = other.workers().view();
  EXPECT_FALSE(copy == view);
}

}  // namespace
