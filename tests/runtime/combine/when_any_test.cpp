// when_any_test.cpp: the first to end stops the others, and nothing that they produced is dropped.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_any.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "recording_runtime.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::operation_cancelled;
using tandem::stop_reason;
using tandem::task;
using tandem::when_any;
using tandem::test::recording_runtime;
using tandem::test::test_runtime;

task<int> number(int n) { co_return n; }
task<int> never(stop_reason expected) {
  try {
    co_await tandem::sleep_for(10h);
  } catch (const operation_cancelled& e) {
    EXPECT_EQ(e.reason(), expected);
    throw;
  }
  co_return 0;
}
/// Has a value in spite of the stop.
task<std::string> stubborn() {
  try {
    co_await tandem::sleep_for(10h);
  } catch (const operation_cancelled&) {
    co_return "kept";
  }
  co_return "";
}
task<int> fails() {
  co_await tandem::yield();
  throw std::runtime_error("broken");
}

TEST(when_any, tells_who_was_first_and_keeps_every_result) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    auto [index, results] =
        co_await when_any(never(stop_reason::race_lost), tandem::sleep_for(1ms), stubborn());
    EXPECT_EQ(index, 1U);
    EXPECT_TRUE(std::get<0>(results).is_cancelled());
    EXPECT_TRUE(std::get<1>(results).has_value());
    EXPECT_EQ(std::get<2>(results).value(), "kept");
    EXPECT_FALSE(tandem::stop_requested());
  }());
}

TEST(when_any, a_ready_child_wins_and_the_others_still_start) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    auto [index, results] = co_await when_any(number(1), number(2), never(stop_reason::race_lost));
    EXPECT_EQ(index, 0U);
    EXPECT_EQ(std::get<0>(results).value(), 1);
    EXPECT_EQ(std::get<1>(results).value(), 2);
    EXPECT_TRUE(std::get<2>(results).is_cancelled());
  }());
}

TEST(when_any, a_failure_wins_as_a_value_does_and_nothing_is_thrown_or_reported) {
  recording_runtime rt;
  rt.run([]() -> task<void> {
    auto [index, results] = co_await when_any(never(stop_reason::race_lost), fails());
    EXPECT_EQ(index, 1U);
    EXPECT_THROW(std::get<1>(results).value(), std::runtime_error);
    auto [first, both] = co_await when_any(fails(), fails());
    EXPECT_LT(first, 2U);
    EXPECT_THROW(std::get<0>(both).value(), std::runtime_error);
    EXPECT_THROW(std::get<1>(both).value(), std::runtime_error);
  }());
  EXPECT_EQ(rt.suppressed(), std::vector<std::string>());
}

TEST(when_any, of_a_range_yields_a_vector_of_results) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto child = [](int i) -> task<int> {
      if (i != 7) co_await tandem::sleep_for(10h);
      co_await tandem::sleep_for(100us);
      co_return i;
    };
    auto [index, results] = co_await when_any(
        std::views::iota(0, 10) | std::views::transform([&](int i) { return child(i); }));
    EXPECT_EQ(index, 7U);
    EXPECT_EQ(results.size(), 10U);
    EXPECT_EQ(results[7].value(), 7);
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(results[i].is_cancelled(), i != 7);
    std::vector<task<void>> one;
    one.push_back([]() -> task<void> { co_await tandem::yield(); }());
    const auto single = co_await when_any(std::move(one));
    EXPECT_EQ(single.index, 0U);
    EXPECT_TRUE(single.results[0].has_value());
  }());
}

TEST(when_any, of_no_children_is_refused) {
  EXPECT_THROW((void)when_any(std::vector<task<int>>()), std::invalid_argument);
}

TEST(when_any, a_stop_of_the_caller_is_in_the_results) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto body = []() -> task<void> {
      auto [index, results] =
          co_await when_any(never(stop_reason::deadline), never(stop_reason::deadline));
      EXPECT_LT(index, 2U);
      EXPECT_TRUE(std::get<0>(results).is_cancelled());
      EXPECT_TRUE(std::get<1>(results).is_cancelled());
      EXPECT_EQ(tandem::current_stop_reason(), stop_reason::deadline);
    };
    co_await tandem::with_timeout(1ms, body());
  }());
}

TEST(when_any, never_awaited_starts_nothing) {
  auto life = std::make_shared<int>(1);
  const auto child = [](std::shared_ptr<int> token) -> task<int> {
    ADD_FAILURE() << "started";
    co_return *token;
  };
  { auto unused = when_any(child(life), child(life)); }
  EXPECT_EQ(life.use_count(), 1);
}

TEST(when_any, ends_that_meet_have_one_winner_and_lose_no_value) {
  test_runtime rt(4);
  std::atomic<int> made{0};
  std::atomic<int> destroyed{0};
  struct counted {
    explicit counted(std::atomic<int>& ends) : ends_(&ends) {}
    counted(counted&& other) noexcept : ends_(std::exchange(other.ends_, nullptr)) {}
    counted& operator=(counted&&) = delete;
    ~counted() {
      if (ends_ != nullptr) ++*ends_;
    }
    std::atomic<int>* ends_;
  };
  rt.run([](std::atomic<int>& m, std::atomic<int>& d) -> task<void> {
    const auto child = [](std::atomic<int>& makes, std::atomic<int>& ends, int n) -> task<counted> {
      if (n % 3 == 0) co_await tandem::yield();
      if (n % 3 == 1) co_await tandem::sleep_for(std::chrono::microseconds(n % 5));
      ++makes;
      co_return counted(ends);
    };
    for (int i = 0; i < 1000; ++i) {
      auto [index, results] =
          co_await when_any(child(m, d, i), child(m, d, i + 1), child(m, d, i + 2));
      const bool values[] = {std::get<0>(results).has_value(), std::get<1>(results).has_value(),
                             std::get<2>(results).has_value()};
      EXPECT_TRUE(values[index]);
      EXPECT_EQ(m.load() - d.load(), values[0] + values[1] + values[2]);
    }
  }(made, destroyed));
  EXPECT_EQ(made.load(), destroyed.load());
}

task<int> nested(int depth) {
  if (depth == 0) co_return 0;
  auto [index, results] = co_await when_any(nested(depth - 1), tandem::sleep_for(10h));
  co_return static_cast<int>(index) + std::get<0>(results).value() + 1;
}

TEST(when_any, ten_thousand_levels_are_no_stack_depth) {
  test_runtime rt;
  EXPECT_EQ(rt.run(nested(10'000)), 10'000);
}

}  // namespace
