// first_success_test.cpp: the first that succeeds decides; failures count only if there is nothing else.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/first_success.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <variant>
#include <vector>

#include "recording_runtime.hpp"
#include "runtime/combine/timed_children.hpp"
#include "runtime/sync/virtual_support.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::all_failed;
using tandem::first_success;
using tandem::operation_cancelled;
using tandem::stop_reason;
using tandem::task;
using tandem::test::fails;
using tandem::test::late;
using tandem::test::on_virtual_clock;
using tandem::test::recording_runtime;
using tandem::test::test_runtime;

/// What a group has failed with, one after the other.
std::vector<std::string> texts(const all_failed& none) {
  std::vector<std::string> said;
  for (const std::exception_ptr& each : none.failures()) {
    try {
      std::rethrow_exception(each);
    } catch (const std::exception& e) {
      said.emplace_back(e.what());
    }
  }
  return said;
}

TEST(first_success, a_failure_before_a_success_stops_nobody_and_is_forgotten) {
  recording_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    const auto begun = tandem::now();
    EXPECT_EQ(co_await first_success(fails(1ms, "a"), late(2, 3ms), late(3, 10h)), 2);
    EXPECT_EQ(tandem::now() - begun, 3ms);
    const auto some = std::views::iota(0, 5) | std::views::transform([](int i) {
                        return i == 3 ? late(i, 9ms) : fails(1ms * i, "b");
                      });
    EXPECT_EQ(co_await first_success(some), 3);
  }());
  EXPECT_EQ(rt.suppressed(), std::vector<std::string>());
}

TEST(first_success, the_others_are_stopped_and_awaited) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    int ended = 0;
    const auto loses = [&ended]() -> task<int> {
      const auto slept = co_await tandem::as_result(tandem::sleep_for(10h));
      EXPECT_TRUE(slept.is_cancelled());
      EXPECT_EQ(tandem::current_stop_reason(), stop_reason::race_lost);
      ++ended;
      co_return 1;
    };
    EXPECT_EQ(co_await first_success(loses(), late(2, 100us)), 2);
    EXPECT_EQ(ended, 1);
  }());
}

TEST(first_success, if_all_fail_the_exception_has_each_failure_in_the_order_of_the_children) {
  recording_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    try {
      (void)co_await first_success(fails(3ms, "a"), fails(1ms, "b"), fails(2ms, "c"));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const all_failed& none) {
      EXPECT_EQ(texts(none), (std::vector<std::string>{"a", "b", "c"}));
      EXPECT_STREQ(none.what(), "all have failed: a; b; c");
      const all_failed copy = none;
      EXPECT_EQ(copy.failures().data(), none.failures().data());
    }
    std::vector<task<int>> many;
    for (int i = 0; i < 10; ++i) many.push_back(fails(1ms, std::to_string(i)));
    try {
      (void)co_await first_success(std::move(many));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const all_failed& none) {
      EXPECT_EQ(none.failures().size(), 10U);
      EXPECT_STREQ(none.what(), "all have failed: 0; 1; 2; 3; 4; 5; 6; 7; 2 more");
    }
    const auto got = co_await tandem::as_result(first_success(fails(0ms, "alone")));
    EXPECT_FALSE(got.has_value());
  }());
  EXPECT_EQ(rt.suppressed(), std::vector<std::string>());
  EXPECT_THROW((void)first_success(std::vector<task<int>>()), std::invalid_argument);
}

TEST(first_success, a_limit_inside_of_a_child_is_a_failure_like_others) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    const auto limited = [](int n) { return tandem::with_timeout(1ms, late(n, 10h)); };
    EXPECT_EQ(co_await first_success(limited(1), late(2, 5ms)), 2);
    EXPECT_THROW((void)co_await first_success(limited(1), limited(2)), all_failed);
  }());
}

TEST(first_success, a_stop_of_the_caller_is_a_cancellation_and_real_failures_are_reported) {
  recording_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    try {
      (void)co_await tandem::with_timeout(2ms, first_success(fails(1ms, "real"), late(2, 10h)));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const operation_cancelled& e) {
      EXPECT_EQ(e.reason(), stop_reason::deadline);
    }
  }());
  EXPECT_EQ(rt.suppressed(), (std::vector<std::string>{"real"}));
}

TEST(first_success, what_fails_after_the_success_is_reported) {
  recording_runtime rt(1);
  rt.run([]() -> task<void> {
    const auto spiteful = []() -> task<int> {
      (void)co_await tandem::as_result(tandem::sleep_for(10h));
      throw std::logic_error("lost, and broken");
    };
    EXPECT_EQ(co_await first_success(spiteful(), late(2, 100us)), 2);
  }());
  EXPECT_EQ(rt.suppressed(), (std::vector<std::string>{"lost, and broken"}));
}

TEST(first_success, of_different_types_yields_a_variant_that_says_who) {
  test_runtime rt;
  int target = 0;
  rt.run([](int& t) -> task<void> {
    const auto own = [](int n) -> task<std::unique_ptr<int>> {
      co_return std::make_unique<int>(n);
    };
    auto first = co_await first_success(fails(0us, "no"), tandem::sleep_for(10h), own(7));
    static_assert(
        std::is_same_v<decltype(first), std::variant<int, std::monostate, std::unique_ptr<int>>>);
    EXPECT_EQ(*std::get<2>(first), 7);
    const auto refer = [](int& r) -> task<int&> { co_return r; };
    EXPECT_EQ(&co_await first_success(refer(t), refer(t)), &t);
    co_await first_success(tandem::sleep_for(10h), tandem::sleep_for(10us));
  }(target));
}

}  // namespace
