// timer_test.cpp: sleeping and time limits.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::test_runtime;
using steady = std::chrono::steady_clock;

TEST(sleep_for, never_returns_early_whatever_the_duration) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const auto wait : {0us, 1us, 100us, 3000us}) {
      const auto began = steady::now();
      co_await tandem::sleep_for(wait);
      EXPECT_GE(steady::now() - began, wait);
    }
    co_await tandem::sleep_for(-5s);
    co_await tandem::sleep_until(steady::now() - 1h);
    const auto began = steady::now();
    co_await tandem::sleep_for(std::chrono::duration<double>(0.002));
    EXPECT_GE(steady::now() - began, 2ms);
  }());
}

TEST(sleep_for, durations_beyond_the_clock_mean_for_ever) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto got = co_await tandem::as_result(tandem::with_timeout(
        2ms, []() -> task<void> { co_await tandem::sleep_for(std::chrono::hours::max()); }()));
    EXPECT_TRUE(got.is_cancelled());
  }());
}

TEST(sleep_for, durations_before_the_clock_are_over) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    co_await tandem::sleep_for(std::chrono::hours::min());
    co_await tandem::sleep_until(steady::time_point::min());
    EXPECT_EQ(co_await tandem::with_timeout(std::chrono::hours::min(),
                                            []() -> task<int> { co_return 1; }()),
              1);
  }());
}

TEST(sleep_for, deadlines_fire_in_their_order) {
  test_runtime rt(1);
  // On a busy machine some may begin only after their time has come: then all of it is done again.
  for (bool undisturbed = false; !undisturbed;) {
    std::string order;
    undisturbed = rt.run([](std::string& out) -> task<bool> {
      const auto base = steady::now() + 20ms;
      bool in_time = true;
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        const auto at = [](std::string& o, bool& all, steady::time_point first,
                           int number) -> task<void> {
          all &= steady::now() < first;
          co_await tandem::sleep_until(first + number * 4ms);
          o += static_cast<char>('0' + number);
        };
        for (const int i : {5, 2, 8, 0, 9, 3, 7, 1, 6, 4}) {
          scope.spawn(at(out, in_time, base, i));
        }
        co_await tandem::yield();  // behind them
        in_time &= steady::now() < base;
      });
      co_return in_time;
    }(order));
    if (undisturbed) {
      EXPECT_EQ(order, "0123456789");
    }
  }
}

TEST(sleep_for, ten_thousand_sleepers_all_wake) {
  test_runtime rt(2);
  std::atomic<int> woken{0};
  rt.run([](std::atomic<int>& count) -> task<void> {
    co_await tandem::with_scope([&count](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 10'000; ++i) {
        scope.spawn([](std::atomic<int>& c, int n) -> task<void> {
          co_await tandem::sleep_for(std::chrono::microseconds(n * 37 % 20'000));
          ++c;
        }(count, i));
      }
      co_return;
    });
  }(woken));
  EXPECT_EQ(woken.load(), 10'000);
}

TEST(with_timeout, yields_the_value_if_the_task_completed) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    EXPECT_EQ(co_await tandem::with_timeout(10h, []() -> task<int> { co_return 5; }()), 5);
    // The limit has passed before the task looks; it completes all the same.
    EXPECT_EQ(co_await tandem::with_timeout(0s, []() -> task<int> { co_return 6; }()), 6);
    EXPECT_EQ(co_await tandem::with_timeout(-1s, []() -> task<int> { co_return 7; }()), 7);
  }());
}

TEST(with_timeout, a_task_that_overruns_is_cancelled_with_reason_deadline) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    try {
      co_await tandem::with_timeout(1ms, []() -> task<void> { co_await tandem::sleep_for(10h); }());
      ADD_FAILURE() << "the sleep was not cut short";
    } catch (const tandem::operation_cancelled& e) {
      EXPECT_EQ(e.reason(), tandem::stop_reason::deadline);
    }
    // The caller itself was not stopped.
    EXPECT_FALSE(tandem::stop_requested());
    co_await tandem::sleep_for(1us);
  }());
}

TEST(with_timeout, other_failures_pass_through) {
  test_runtime rt;
  EXPECT_THROW(rt.run([]() -> task<void> {
    co_await tandem::with_timeout(10h, []() -> task<void> {
      co_await tandem::sleep_for(1us);
      throw std::out_of_range("through");
    }());
  }()),
               std::out_of_range);
}

TEST(with_timeout, nests_and_the_shorter_limit_wins) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto sleeps = []() -> task<void> { co_await tandem::sleep_for(10h); };
    const auto inner_long = [](auto s) -> task<std::string> {
      try {
        co_await tandem::with_timeout(5h, s());
      } catch (const tandem::operation_cancelled& e) {
        co_return tandem::stop_requested() ? "outer" : "inner";
      }
      co_return "none";
    };
    const auto inner_short = [](auto s) -> task<std::string> {
      try {
        co_await tandem::with_timeout(1ms, s());
      } catch (const tandem::operation_cancelled& e) {
        co_return tandem::stop_requested() ? "outer" : "inner";
      }
      co_return "none";
    };
    EXPECT_EQ(co_await tandem::with_timeout(1ms, inner_long(sleeps)), "outer");
    EXPECT_EQ(co_await tandem::with_timeout(5h, inner_short(sleeps)), "inner");
  }());
}

TEST(with_timeout, racing_limits_end_each_task_once) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    int completed = 0;
    int cancelled = 0;
    for (int i = 0; i < 3000; ++i) {
      const auto wait = std::chrono::microseconds(40 + i % 20);
      const auto got = co_await tandem::as_result(
          tandem::with_timeout(50us, [](std::chrono::microseconds w) -> task<int> {
            co_await tandem::sleep_for(w);
            co_return 1;
          }(wait)));
      got.has_value() ? ++completed : ++cancelled;
    }
    EXPECT_EQ(completed + cancelled, 3000);
  }());
}

// timers/last_access: for ThreadSanitizer, which sees the end of the service unordered to the last
// lines of arm().
TEST(timer, a_runtime_may_end_while_a_thread_of_another_one_still_arms_its_timer) {
  test_runtime workers(2);
  for (int i = 0; i < 100; ++i) {
    tandem::runtime owner(tandem::test::with_threads(1));
    owner
        .spawn(workers.workers(),
               []() -> task<void> { co_await tandem::sleep_for(std::chrono::microseconds(1)); }())
        .wait();
  }
}

// Found by a test of all awaitables: the timer fired when its driver came round, after the first
// await.
TEST(timeout, a_limit_that_is_over_stops_the_child_at_its_first_await) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const auto limit : {0ms, -5ms}) {
      bool began = false;
      try {
        co_await tandem::with_timeout(limit, [](bool& flag) -> task<void> {
          flag = true;
          co_await tandem::yield();
          ADD_FAILURE() << "the first await went by";
        }(began));
        ADD_FAILURE() << "it was not stopped";
      } catch (const tandem::operation_cancelled& stopped) {
        EXPECT_EQ(stopped.reason(), tandem::stop_reason::deadline);
      }
      EXPECT_TRUE(began);
    }
    EXPECT_EQ(
        co_await tandem::with_deadline(tandem::now() - 1h, []() -> task<int> { co_return 3; }()),
        3);
  }());
}

}  // namespace
