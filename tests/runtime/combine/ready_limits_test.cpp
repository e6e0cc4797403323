// ready_limits_test.cpp: time limits around children that compute, and end without waiting, or wait late.
// SPDX-License-Identifier: MIT
//
// The timer of a limit is armed only when the child waits, or asks again (timers/limit).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>

#include "runtime/support/computing.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::stop_reason;
using tandem::task;
using tandem::test::asks_until_stopped;
using tandem::test::compute_for;
using tandem::test::test_runtime;

TEST(limits, a_child_that_computes_beyond_its_limit_is_told_when_it_asks_for_the_first_time) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    const auto computes = []() -> task<stop_reason> {
      compute_for(20ms);
      co_return tandem::current_stop_reason();
    };
    EXPECT_EQ(co_await tandem::with_timeout(5ms, computes()), stop_reason::deadline);
    auto [in_a_group] = co_await tandem::with_timeout(5ms, tandem::when_all(computes()));
    EXPECT_EQ(in_a_group, stop_reason::deadline);
  }());
}

TEST(limits, a_child_that_asks_before_and_after_its_limit_is_told_after_it) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    const auto asks = []() -> task<stop_reason> {
      EXPECT_FALSE(tandem::stop_requested());
      std::atomic<int> asking{0};
      co_return co_await asks_until_stopped(asking);
    };
    EXPECT_EQ(co_await tandem::with_timeout(30ms, asks()), stop_reason::deadline);
  }());
}

TEST(limits, a_child_that_first_waits_after_its_limit_does_not_wait) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    const auto waits = []() -> task<void> {
      compute_for(20ms);
      co_await tandem::sleep_for(10h);
    };
    const auto got = co_await tandem::as_result(tandem::with_timeout(5ms, waits()));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_FALSE(tandem::stop_requested());
  }());
}

TEST(limits, a_child_that_is_ready_starts_no_timer) {
  test_runtime rt(2);
  rt.run([](tandem::runtime& runtime) -> task<void> {
    const auto ready = []() -> task<int> { co_return 1; };
    const std::uint64_t before = runtime.metrics().timers.started;
    for (int i = 0; i < 1000; ++i) (void)co_await tandem::with_timeout(1h, ready());
    EXPECT_EQ(runtime.metrics().timers.started, before);
    const auto waits = []() -> task<void> { co_await tandem::sleep_for(1us); };
    co_await tandem::with_timeout(1h, waits());
    EXPECT_EQ(runtime.metrics().timers.started, before + 2);  // the sleep's and the limit's
  }(*rt));
}

}  // namespace
