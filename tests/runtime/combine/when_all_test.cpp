// when_all_test.cpp: all children run at once and end first; the first failure stops the others.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/invoke.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "recording_runtime.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::operation_cancelled;
using tandem::stop_reason;
using tandem::task;
using tandem::when_all;
using tandem::test::recording_runtime;
using tandem::test::test_runtime;

task<int> number(int n) { co_return n; }
task<int> number_later(int n) {
  co_await tandem::yield();
  co_await tandem::sleep_for(50us);
  co_return n;
}
task<void> fails(std::string text) {
  throw std::runtime_error(text);
  co_return;
}
task<void> fails_later(std::string text) {
  co_await tandem::sleep_for(1ms);
  throw std::runtime_error(text);
}
/// Sleeps until it is stopped; says why.
task<void> until_stopped(std::atomic<int>& count, stop_reason expected) {
  try {
    co_await tandem::sleep_for(10h);
  } catch (const operation_cancelled& e) {
    EXPECT_EQ(e.reason(), expected);
    ++count;
    throw;
  }
}

TEST(when_all, yields_the_values_in_order_and_monostate_for_void) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto text = []() -> task<std::string> { co_return "a long enough string for the heap"; };
    auto [a, b, c, d] =
        co_await when_all(number(1), text(), tandem::sleep_for(10us), number_later(4));
    static_assert(std::is_same_v<decltype(c), std::monostate>);
    EXPECT_EQ(a, 1);
    EXPECT_EQ(b, "a long enough string for the heap");
    EXPECT_EQ(d, 4);
  }());
}

TEST(when_all, of_nothing_is_ready_and_of_one_is_that_one) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    static_assert(std::is_same_v<decltype(when_all().await_resume()), std::tuple<>>);
    co_await when_all();
    std::vector<task<int>> none;
    EXPECT_TRUE((co_await when_all(std::move(none))).empty());
    auto [one] = co_await when_all(number_later(1));
    EXPECT_EQ(one, 1);
    auto [ready] = co_await when_all(number(2));
    EXPECT_EQ(ready, 2);
  }());
}

TEST(when_all, of_a_range_yields_a_vector_and_a_view_makes_its_children) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::vector<task<int>> tasks;
    for (int i = 0; i < 100; ++i) tasks.push_back(i % 3 == 0 ? number_later(i) : number(i));
    const std::vector<int> got = co_await when_all(std::move(tasks));
    EXPECT_EQ(got.size(), 100U);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i);
    const auto squares =
        std::views::iota(0, 10) | std::views::transform([](int i) { return number(i * i); });
    EXPECT_EQ((co_await when_all(squares)).back(), 81);
    const auto sleeps = std::views::iota(0, 10) |
                        std::views::transform([](int) { return tandem::sleep_for(10us); });
    co_await when_all(sleeps);
    static_assert(std::is_void_v<decltype(when_all(sleeps).await_resume())>);
  }());
}

TEST(when_all, references_and_move_only_values_come_through) {
  test_runtime rt;
  int target = 0;
  rt.run([](int& t) -> task<void> {
    const auto refer = [](int& r) -> task<int&> { co_return r; };
    const auto own = [](int n) -> task<std::unique_ptr<int>> {
      co_return std::make_unique<int>(n);
    };
    auto [r, p] = co_await when_all(refer(t), own(5));
    static_assert(std::is_same_v<decltype(r), int&>);
    EXPECT_EQ(&r, &t);
    EXPECT_EQ(*p, 5);
  }(target));
}

TEST(when_all, children_are_awaitables_of_any_kind_lvalues_too) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    auto handle = tandem::spawn(number(7));
    auto [a, b, c, d] = co_await when_all(handle, tandem::spawn(number_later(8)),
                                          tandem::as_result(number(9)), when_all(number(10)));
    EXPECT_EQ(a, 7);
    EXPECT_EQ(b, 8);
    EXPECT_EQ(c.value(), 9);
    EXPECT_EQ(std::get<0>(d), 10);
  }());
}

TEST(when_all, the_first_failure_stops_the_others_and_comes_out_after_all_have_ended) {
  recording_runtime rt;
  std::atomic<int> stopped{0};
  try {
    rt.run([](std::atomic<int>& count) -> task<void> {
      co_await when_all(until_stopped(count, stop_reason::sibling_failed), fails_later("first"),
                        until_stopped(count, stop_reason::sibling_failed));
    }(stopped));
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "first");
  }
  EXPECT_EQ(stopped.load(), 2);
  EXPECT_EQ(rt.suppressed(), std::vector<std::string>());  // having been stopped is no failure
}

TEST(when_all, a_failure_before_the_siblings_start_stops_them_at_their_first_wait) {
  test_runtime rt(1);
  std::atomic<int> stopped{0};
  EXPECT_THROW(rt.run([](std::atomic<int>& count) -> task<void> {
    co_await when_all(fails("at once"), until_stopped(count, stop_reason::sibling_failed),
                      until_stopped(count, stop_reason::sibling_failed));
  }(stopped)),
               std::runtime_error);
  EXPECT_EQ(stopped.load(), 2);
}

TEST(when_all, when_all_fail_the_first_by_time_is_thrown_and_the_others_are_reported) {
  recording_runtime rt(1);
  try {
    rt.run([]() -> task<void> { co_await when_all(fails("1"), fails("2"), fails("3")); }());
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "1");  // on one worker the children start in their order
  }
  EXPECT_EQ(rt.suppressed(), (std::vector<std::string>{"2", "3"}));
}

TEST(when_all, throwing_while_being_stopped_is_reported_and_not_thrown) {
  recording_runtime rt;
  const auto spiteful = []() -> task<void> {
    try {
      co_await tandem::sleep_for(10h);
    } catch (const operation_cancelled&) {
      throw std::logic_error("in the way of the stop");
    }
  };
  EXPECT_THROW(rt.run([](auto make) -> task<void> {
    co_await when_all(make(), fails_later("first"));
  }(spiteful)),
               std::runtime_error);
  EXPECT_EQ(rt.suppressed(), (std::vector<std::string>{"in the way of the stop"}));
}

TEST(when_all, a_stop_of_the_caller_reaches_all_and_comes_out_as_a_cancellation) {
  test_runtime rt;
  std::atomic<int> stopped{0};
  rt.run([](std::atomic<int>& count) -> task<void> {
    const auto got = co_await tandem::as_result(tandem::with_timeout(
        1ms, when_all(until_stopped(count, stop_reason::deadline),
                      until_stopped(count, stop_reason::deadline), number(1))));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_FALSE(tandem::stop_requested());
  }(stopped));
  EXPECT_EQ(stopped.load(), 2);
}

TEST(when_all, in_a_stopped_task_children_start_and_those_that_do_not_wait_yield_their_values) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto body = []() -> task<int> {
      (void)co_await tandem::as_result(tandem::sleep_for(10h));
      EXPECT_TRUE(tandem::stop_requested());
      auto [a, b] = co_await when_all(number(1), number(2));
      EXPECT_TRUE(
          (co_await tandem::as_result(when_all(number(1), tandem::sleep_for(10h)))).is_cancelled());
      co_return a + b;
    };
    EXPECT_EQ(co_await tandem::with_timeout(100us, body()), 3);
  }());
}

TEST(when_all, a_time_limit_inside_a_child_is_a_failure_like_any_other) {
  test_runtime rt;
  std::atomic<int> stopped{0};
  try {
    rt.run([](std::atomic<int>& count) -> task<void> {
      co_await when_all(tandem::with_timeout(1ms, tandem::sleep_for(10h)),
                        until_stopped(count, stop_reason::sibling_failed));
    }(stopped));
    FAIL() << "nothing was thrown";
  } catch (const operation_cancelled& e) {
    EXPECT_EQ(e.reason(), stop_reason::deadline);
  }
  EXPECT_EQ(stopped.load(), 1);
}

TEST(when_all, never_awaited_starts_nothing_and_leaks_nothing) {
  test_runtime rt;
  auto life = std::make_shared<int>(1);
  rt.run([](std::shared_ptr<int> token) -> task<void> {
    const auto child = [](std::shared_ptr<int> t) -> task<void> {
      ADD_FAILURE() << "started";
      (void)t;
      co_return;
    };
    { auto unused = when_all(child(token), child(token)); }
    {
      std::vector<task<void>> tasks;
      tasks.push_back(child(token));
      auto unused = when_all(std::move(tasks));
    }
    EXPECT_EQ(token.use_count(), 2);
    co_return;
  }(life));
  EXPECT_EQ(life.use_count(), 1);
}

TEST(when_all, children_that_move_away_end_at_the_callers_home) {
  test_runtime rt(1);
  test_runtime other(1);
  rt.run([](tandem::worker_pool& home, tandem::worker_pool& away) -> task<void> {
    const auto moves = [](tandem::worker_pool& target) -> task<int> {
      co_await tandem::resume_on(target);
      EXPECT_TRUE(target.is_current());
      co_return 1;
    };
    for (int i = 0; i < 200; ++i) {
      auto [a, b, c] = co_await when_all(moves(away), number(1), moves(away));
      EXPECT_EQ(a + b + c, 3);
      EXPECT_TRUE(home.is_current());
    }
  }(rt.workers(), other.workers()));
}

task<int> nested(int depth) {
  if (depth == 0) co_return 0;
  auto [deep, leaf] = co_await when_all(nested(depth - 1), number(1));
  co_return deep + leaf;
}
task<void> nested_wait(int depth) {
  if (depth == 0) {
    co_await tandem::sleep_for(10h);
  } else {
    co_await when_all(nested_wait(depth - 1), number(1));
  }
}

TEST(when_all, a_hundred_thousand_levels_are_no_stack_depth) {
  test_runtime rt;
  EXPECT_EQ(rt.run(nested(100'000)), 100'000);
}

TEST(when_all, a_stop_goes_down_a_hundred_thousand_levels_and_the_failure_comes_up) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto got = co_await tandem::as_result(tandem::with_timeout(200ms, nested_wait(100'000)));
    EXPECT_TRUE(got.is_cancelled());
  }());
}

TEST(when_all, keeps_the_environment_of_the_caller) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const tandem::environment* const mine = tandem::current_environment();
    const auto child = [](const tandem::environment* parents, bool waits) -> task<void> {
      if (waits) co_await tandem::sleep_for(10us);
      EXPECT_EQ(tandem::current_environment()->parent(), parents);
    };
    for (int i = 0; i < 100; ++i) {
      co_await when_all(child(mine, false), child(mine, i % 2 == 0));
      EXPECT_EQ(tandem::current_environment(), mine);
      co_await when_all(child(mine, true), child(mine, i % 2 == 0));
      EXPECT_EQ(tandem::current_environment(), mine);
    }
  }());
}

TEST(when_all, failure_stop_and_end_may_meet_in_any_order) {
  recording_runtime rt(4);
  std::atomic<int> started{0};
  std::atomic<int> ended{0};
  rt.run([](std::atomic<int>& begun, std::atomic<int>& done) -> task<void> {
    const auto child = [](std::atomic<int>& b, std::atomic<int>& d, int n) -> task<void> {
      ++b;
      struct count_down {
        std::atomic<int>& at;
        ~count_down() { ++at; }
      } const guard{d};
      if (n % 2 == 0) co_await tandem::yield();
      if (n % 3 == 0) co_await tandem::sleep_for(std::chrono::microseconds(n % 7));
      if (n % 5 == 0) throw std::runtime_error("fifth");
      co_await tandem::sleep_for(5us);
    };
    for (int i = 0; i < 1000; ++i) {
      (void)co_await tandem::as_result(
          tandem::with_timeout(std::chrono::microseconds(i % 40),
                               when_all(child(begun, done, i), child(begun, done, i + 1),
                                        child(begun, done, i + 2), child(begun, done, i + 3))));
      EXPECT_EQ(begun.load(), done.load());
    }
  }(started, ended));
  EXPECT_EQ(started.load(), 4000);
}

}  // namespace
