// shielded_test.cpp: no stop from outside reaches what is shielded.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <tandem/as_result.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::shielded;
using tandem::stop_reason;
using tandem::task;
using tandem::test::test_runtime;

task<int> works(int n) {
  for (int i = 0; i < 5; ++i) co_await tandem::sleep_for(200us);
  EXPECT_FALSE(tandem::stop_requested());
  co_return n;
}

TEST(shielded, a_stop_of_the_caller_before_or_during_does_not_reach_the_task) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto body = []() -> task<int> {
      const int first = co_await shielded(works(1));
      (void)co_await tandem::as_result(tandem::sleep_for(10h));
      EXPECT_EQ(tandem::current_stop_reason(), stop_reason::deadline);
      const int second = co_await shielded(works(2));
      EXPECT_EQ(tandem::current_stop_reason(), stop_reason::deadline);
      co_return first + second;
    };
    EXPECT_EQ(co_await tandem::with_timeout(100us, body()), 3);
  }());
}

TEST(shielded, a_failing_sibling_does_not_reach_it_either) {
  test_runtime rt;
  std::atomic<int> value{0};
  EXPECT_THROW(rt.run([](std::atomic<int>& v) -> task<void> {
    const auto careful = [](std::atomic<int>& target) -> task<void> {
      target = co_await shielded(works(3));
    };
    const auto fails = []() -> task<void> {
      co_await tandem::yield();
      throw std::runtime_error("sibling");
    };
    co_await tandem::when_all(careful(v), fails());
  }(value)),
               std::runtime_error);
  EXPECT_EQ(value.load(), 3);
}

TEST(shielded, its_own_time_limit_still_counts) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto got =
        co_await tandem::as_result(shielded(tandem::with_timeout(1ms, tandem::sleep_for(10h))));
    EXPECT_TRUE(got.is_cancelled());
  }());
}

TEST(shielded, values_failures_and_awaitables_come_through) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto own = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); };
    EXPECT_EQ(*co_await shielded(own()), 4);
    const auto fails = []() -> task<void> {
      throw std::logic_error("mine");
      co_return;
    };
    EXPECT_TRUE((co_await tandem::as_result(shielded(fails()))).exception() != nullptr);
    co_await shielded(tandem::sleep_for(10us));
    const tandem::environment* const mine = tandem::current_environment();
    co_await shielded(works(1));
    EXPECT_EQ(tandem::current_environment(), mine);
  }());
}

TEST(shielded, shutdown_waits_for_it) {
  std::atomic<bool> begun{false};
  std::atomic<bool> done{false};
  {
    test_runtime rt;
    (void)rt->spawn([](std::atomic<bool>& b, std::atomic<bool>& d) -> task<void> {
      co_await shielded([](std::atomic<bool>& begins, std::atomic<bool>& ends) -> task<void> {
        begins = true;
        for (int i = 0; i < 20; ++i) co_await tandem::sleep_for(100us);
        ends = true;
      }(b, d));
    }(begun, done));
    rt.run([](std::atomic<bool>& b) -> task<void> {
      while (!b) co_await tandem::yield();
    }(begun));
  }
  EXPECT_TRUE(done.load());
}

TEST(shielded, never_awaited_starts_nothing) {
  auto life = std::make_shared<int>(1);
  {
    auto unused = shielded([](std::shared_ptr<int> t) -> task<int> { co_return *t; }(life));
  }
  EXPECT_EQ(life.use_count(), 1);
}

task<int> nested(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await shielded(nested(depth - 1));
}

TEST(shielded, a_hundred_thousand_levels_are_no_stack_depth) {
  test_runtime rt;
  EXPECT_EQ(rt.run(nested(100'000)), 100'000);
}

}  // namespace
