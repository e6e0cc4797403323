// rate_limiter_test.cpp: tokens come in time, in order, and none is lost or made up.
// SPDX-License-Identifier: MIT
#include <tandem/rate_limiter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <vector>

#include "runtime/sync/virtual_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::operation_cancelled;
using tandem::rate_limiter;
using tandem::task;
using tandem::test::on_virtual_clock;
using tandem::test::test_runtime;

using nanoseconds = std::chrono::nanoseconds;

TEST(rate_limiter, a_burst_goes_at_once_and_the_rest_one_by_one_without_drift) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    rate_limiter limiter(3, 1s, 2);  // a third of a second is no whole number of nanoseconds
    const auto begun = tandem::now();
    std::vector<nanoseconds> at;
    for (int i = 0; i < 8; ++i) {
      co_await limiter.acquire();
      at.push_back(tandem::now() - begun);
    }
    EXPECT_EQ(at, (std::vector<nanoseconds>{0ns, 0ns, 333'333'334ns, 666'666'667ns, 1s,
                                            1'333'333'334ns, 1'666'666'667ns, 2s}));
  }());
}

TEST(rate_limiter, what_is_kept_over_a_pause_is_bounded_by_the_burst) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    rate_limiter limiter(1, 1ms, 5);
    EXPECT_EQ(limiter.available(), 5U);
    EXPECT_TRUE(limiter.try_acquire(5));
    EXPECT_FALSE(limiter.try_acquire());
    co_await tandem::sleep_for(2500us);
    EXPECT_EQ(limiter.available(), 2U);
    co_await tandem::sleep_for(100h);
    EXPECT_EQ(limiter.available(), 5U);
    EXPECT_FALSE(limiter.try_acquire(5) && limiter.try_acquire());
  }());
}

TEST(rate_limiter, those_that_wait_are_served_in_their_order_and_nobody_overtakes) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    rate_limiter limiter(1, 1ms, 10);
    EXPECT_TRUE(limiter.try_acquire(10));
    std::string order;
    const auto begun = tandem::now();
    const auto take = [&](char name, std::size_t tokens, nanoseconds after) -> task<nanoseconds> {
      co_await tandem::sleep_for(after);
      co_await limiter.acquire(tokens);
      order += name;
      co_return tandem::now() - begun;
    };
    const auto peek = [&]() -> task<void> {
      co_await tandem::sleep_for(4ms);
      EXPECT_EQ(limiter.available(), 4U);
      EXPECT_FALSE(limiter.try_acquire());  // they are for the first in line
    };
    auto [a, b, c, nothing] =
        co_await tandem::when_all(take('a', 5, 1ms), take('b', 1, 2ms), take('c', 3, 3ms), peek());
    EXPECT_EQ(order, "abc");
    EXPECT_EQ(a, 5ms);
    EXPECT_EQ(b, 6ms);
    EXPECT_EQ(c, 9ms);
  }());
}

TEST(rate_limiter, one_that_is_stopped_gives_its_place_back_and_those_behind_move_up) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    rate_limiter limiter(1, 1ms, 10);
    EXPECT_TRUE(limiter.try_acquire(10));
    const auto begun = tandem::now();
    const auto gives_up = [&](nanoseconds after) -> task<bool> {
      const auto got = co_await tandem::as_result(tandem::with_timeout(after, limiter.acquire(5)));
      co_return got.is_cancelled();
    };
    const auto take = [&]() -> task<nanoseconds> {
      co_await limiter.acquire(4);
      co_return tandem::now() - begun;
    };
    auto [first, second, at] = co_await tandem::when_all(gives_up(2ms), gives_up(3ms), take());
    EXPECT_TRUE(first && second);
    EXPECT_EQ(at, 4ms);
    EXPECT_EQ(limiter.available(), 0U);
  }());
}

TEST(rate_limiter, a_ready_one_gives_way_now_and_then_and_hears_of_a_stop) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    rate_limiter limiter(1'000'000'000, 1s, 1'000'000);
    int taken = 0;
    const auto loop = [&]() -> task<void> {
      for (;; ++taken) co_await limiter.acquire();
    };
    auto running = tandem::spawn(loop());
    co_await tandem::sleep_for(0s);
    (void)running.cancel();
    EXPECT_THROW(co_await running, operation_cancelled);
    EXPECT_LE(taken, 1000);
  }());
}

TEST(rate_limiter, refuses_what_can_never_be) {
  using limiter = rate_limiter;
  EXPECT_THROW(limiter(0, 1s, 1), std::invalid_argument);
  EXPECT_THROW(limiter(1, 0s, 1), std::invalid_argument);
  EXPECT_THROW(limiter(1, 1s, 0), std::invalid_argument);
  EXPECT_THROW(limiter(1, 1h, 10'000'000), std::invalid_argument);
  limiter small(1, 1s, 3);
  EXPECT_THROW((void)small.acquire(4), std::invalid_argument);
  EXPECT_THROW((void)small.try_acquire(4), std::invalid_argument);
  EXPECT_TRUE(small.try_acquire(3));  // outside any task: by the steady clock
}

TEST(rate_limiter, many_threads_never_get_more_than_the_rate) {
  test_runtime rt(4);
  rt.run([]() -> task<void> {
    constexpr std::size_t burst = 5;
    rate_limiter limiter(100'000, 1s, burst);
    std::atomic<std::size_t> got{0};
    const auto take = [&]() -> task<void> {
      for (std::size_t i = 0; i < 200; ++i) {
        const std::size_t tokens = i % 3 + 1;
        const auto took = co_await tandem::as_result(
            tandem::with_timeout(std::chrono::microseconds(i % 40), limiter.acquire(tokens)));
        if (took) got += tokens;
      }
    };
    const auto begun = tandem::now();
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 8; ++i) scope.spawn(take());
      co_await scope.join();
    });
    const auto passed = std::chrono::duration_cast<nanoseconds>(tandem::now() - begun).count();
    EXPECT_LE(got, burst + static_cast<std::size_t>(passed) / 10'000 + 1);
    EXPECT_GT(got, 0U);
    co_await limiter.acquire(burst);  // nobody stands in the way
  }());
}

}  // namespace
