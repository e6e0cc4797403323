// retry_test.cpp: what is tried again, how often, and after what delay.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/retry.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "recording_runtime.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::retry;
using tandem::retry_jitter;
using tandem::retry_options;
using tandem::task;
using tandem::test::recording_runtime;
using tandem::test::test_runtime;

retry_options at_once(unsigned attempts) {
  return retry_options().attempts(attempts).initial_delay(0ns);
}

task<int> succeeds_at(int& calls, int which) {
  co_await tandem::yield();
  if (++calls < which) throw std::runtime_error("attempt " + std::to_string(calls));
  co_return calls;
}

TEST(retry, tries_until_an_attempt_succeeds) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    int calls = 0;
    EXPECT_EQ(co_await retry([&] { return succeeds_at(calls, 3); }, at_once(5)), 3);
    EXPECT_EQ(calls, 3);
    calls = 0;
    EXPECT_EQ(co_await retry([&] { return succeeds_at(calls, 1); }), 1);
    const auto options =
        retry_options().attempts(3).initial_delay(10us).factor(3).jitter(retry_jitter::equal);
    calls = 0;
    EXPECT_EQ(co_await retry([&] { return succeeds_at(calls, 3); }, options), 3);
  }());
}

TEST(retry, throws_the_last_failure_when_the_attempts_are_used_up) {
  test_runtime rt;
  int calls = 0;
  try {
    rt.run([](int& c) -> task<void> {
      (void)co_await retry([&c] { return succeeds_at(c, 100); }, at_once(4));
    }(calls));
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "attempt 4");
  }
  EXPECT_EQ(calls, 4);
}

TEST(retry, the_predicate_says_what_is_worth_another_attempt) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    int calls = 0;
    auto options = at_once(10);
    options.when([](const std::exception_ptr& failure) {
      try {
        std::rethrow_exception(failure);
      } catch (const std::logic_error&) {
        return false;
      } catch (...) {
        return true;
      }
    });
    const auto make = [&calls]() -> task<void> {
      if (++calls == 3) throw std::logic_error("pointless");
      throw std::runtime_error("again");
      co_return;
    };
    auto got = co_await tandem::as_result(retry(make, options));
    EXPECT_THROW(got.value(), std::logic_error);
    EXPECT_EQ(calls, 3);
  }());
}

TEST(retry, after_a_stop_nothing_is_tried_again) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    int calls = 0;
    tandem::event has_begun;
    const auto sleeps = [&]() -> task<void> {
      ++calls;
      has_begun.set();
      co_await tandem::sleep_for(10h);
    };
    auto trying = tandem::spawn(retry(sleeps, at_once(5)));
    co_await has_begun.wait();
    trying.cancel();
    EXPECT_TRUE((co_await tandem::as_result(std::move(trying))).is_cancelled());
    EXPECT_EQ(calls, 1);
  }());
}

TEST(retry, a_time_limit_inside_the_attempt_is_a_failure_like_any_other) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    int calls = 0;
    const auto limited = [&calls] {
      ++calls;
      return tandem::with_timeout(10us, tandem::sleep_for(10h));
    };
    EXPECT_TRUE((co_await tandem::as_result(retry(limited, at_once(3)))).is_cancelled());
    EXPECT_EQ(calls, 3);
  }());
}

TEST(retry, a_stop_during_the_delay_is_thrown_and_the_last_failure_reported) {
  // The time limit must not pass before the delay has begun: virtual time waits for that.
  tandem::runtime_options timeless;
  timeless.clock = tandem::virtual_time(1);
  recording_runtime rt(std::move(timeless));
  rt.run([]() -> task<void> {
    int calls = 0;
    auto options = retry_options().initial_delay(10h).max_delay(10h).jitter(retry_jitter::none);
    const auto got = co_await tandem::as_result(
        tandem::with_timeout(1ms, retry([&] { return succeeds_at(calls, 9); }, options)));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_EQ(calls, 1);
  }());
  EXPECT_EQ(rt.suppressed(), (std::vector<std::string>{"attempt 1"}));
}

TEST(retry, delays_grow_up_to_the_maximum_and_jitter_only_shortens_them) {
  auto options = retry_options().initial_delay(10ms).factor(2).max_delay(50ms);
  options.jitter(retry_jitter::none);
  EXPECT_EQ(options.delay_after(1), 10ms);
  EXPECT_EQ(options.delay_after(2), 20ms);
  EXPECT_EQ(options.delay_after(3), 40ms);
  EXPECT_EQ(options.delay_after(4), 50ms);
  EXPECT_EQ(options.delay_after(4'000'000), 50ms);
  options.jitter(retry_jitter::full);
  bool differ = false;
  for (int i = 0; i < 1000; ++i) {
    const auto delay = options.delay_after(3);
    EXPECT_TRUE(delay >= 0ms && delay <= 40ms);
    differ = differ || delay != options.delay_after(3);
  }
  EXPECT_TRUE(differ);
  options.jitter(retry_jitter::equal);
  for (int i = 0; i < 1000; ++i) {
    const auto delay = options.delay_after(3);
    EXPECT_TRUE(delay >= 20ms && delay <= 40ms);
  }
  const auto longest = retry_options::duration::max();
  options.initial_delay(longest).max_delay(longest).jitter(retry_jitter::none);
  EXPECT_EQ(options.delay_after(9), longest);
  options.initial_delay(-1ms);
  EXPECT_EQ(options.delay_after(9), 0ms);
}

TEST(retry, a_budget_is_shared_and_when_it_is_empty_a_failure_is_passed_on_at_once) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tandem::retry_budget budget(3, 0.5);
    auto options = at_once(3);
    options.budget(budget);
    int calls = 0;
    const auto hopeless = [&calls, &options]() -> task<int> {
      calls = 0;
      return retry([&calls] { return succeeds_at(calls, 100); }, options);
    };
    EXPECT_THROW((void)co_await hopeless(), std::runtime_error);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(budget.available(), 1U);
    EXPECT_THROW((void)co_await hopeless(), std::runtime_error);
    EXPECT_EQ(calls, 2);
    EXPECT_THROW((void)co_await hopeless(), std::runtime_error);
    EXPECT_EQ(calls, 1);
    const auto good = [&options, n = 0]() mutable {
      return retry([&n] { return succeeds_at(n, 0); }, options);
    };
    auto succeed = good;
    for (int i = 0; i < 3; ++i) (void)co_await succeed();
    EXPECT_EQ(budget.available(), 1U);
    EXPECT_THROW((void)co_await hopeless(), std::runtime_error);
    EXPECT_EQ(calls, 2);
    for (int i = 0; i < 100; ++i) (void)co_await succeed();
    EXPECT_EQ(budget.available(), 3U);
  }());
}

TEST(retry, a_failure_that_is_not_worth_it_costs_no_budget) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tandem::retry_budget budget(3);
    auto options = at_once(3);
    options.budget(budget).when([](const std::exception_ptr&) { return false; });
    int calls = 0;
    EXPECT_THROW((void)co_await retry([&] { return succeeds_at(calls, 100); }, options),
                 std::runtime_error);
    EXPECT_EQ(budget.available(), 3U);
  }());
}

TEST(retry, options_refuse_what_makes_no_sense) {
  EXPECT_THROW(tandem::retry_budget(0), std::invalid_argument);
  EXPECT_THROW(tandem::retry_budget(3, 4), std::invalid_argument);
  EXPECT_THROW(tandem::retry_budget(3, -1), std::invalid_argument);
  EXPECT_THROW(retry_options().attempts(0), std::invalid_argument);
  EXPECT_THROW(retry_options().factor(0.5), std::invalid_argument);
}

}  // namespace
