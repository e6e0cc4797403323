// ready_children_test.cpp: children that end, or compute for long, without waiting; and who hears of a stop then.
// SPDX-License-Identifier: MIT
//
// The state of a group is linked below its parent's only when a child waits (stopping/late). So the laws here are
// about groups in which nobody has waited yet.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/for_each_concurrent.hpp>
#include <tandem/fork_each.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/race.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/stop.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/when_any.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "runtime/support/computing.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::operation_cancelled;
using tandem::stop_reason;
using tandem::task;
using tandem::test::asks_until_stopped;
using tandem::test::test_runtime;

constexpr int eight = 8;

/// Computes until all eight have begun: on eight workers, or never.
task<int> meets(std::atomic<int>& begun) {
  ++begun;
  const auto limit = std::chrono::steady_clock::now() + 30s;
  while (begun.load() < eight && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  co_return begun.load();
}

std::vector<task<int>> eight_that_meet(std::atomic<int>& begun) {
  std::vector<task<int>> all;
  for (int i = 0; i < eight; ++i) all.push_back(meets(begun));
  return all;
}

task<void> when_all_meets(std::atomic<int>& b) {
  (void)co_await tandem::when_all(meets(b), meets(b), meets(b), meets(b), meets(b), meets(b),
                                  meets(b), meets(b));
}
task<void> when_all_range_meets(std::atomic<int>& b) {
  (void)co_await tandem::when_all(eight_that_meet(b));
}
task<void> when_any_meets(std::atomic<int>& b) {
  (void)co_await tandem::when_any(meets(b), meets(b), meets(b), meets(b), meets(b), meets(b),
                                  meets(b), meets(b));
}
task<void> race_meets(std::atomic<int>& b) { (void)co_await tandem::race(eight_that_meet(b)); }
task<void> for_each_meets(std::atomic<int>& b) {
  const auto one = [&b](int /*item*/) { return meets(b); };
  co_await tandem::for_each_concurrent(std::views::iota(0, eight), eight, one);
}
task<void> fork_join_meets(std::atomic<int>& b) {
  (void)co_await tandem::fork_join(meets(b), meets(b), meets(b), meets(b), meets(b), meets(b),
                                   meets(b), meets(b));
}
task<void> fork_join_range_meets(std::atomic<int>& b) {
  (void)co_await tandem::fork_join(eight_that_meet(b));
}
task<void> fork_each_meets(std::atomic<int>& b) {
  const auto one = [&b](std::size_t /*i*/) { return meets(b); };
  (void)co_await tandem::fork_each(std::size_t{eight}, one);
}

TEST(ready_children, that_compute_for_long_use_all_workers) {
  test_runtime rt(eight);
  int n = 0;
  for (const auto all : {when_all_meets, when_all_range_meets, when_any_meets, race_meets,
                         for_each_meets, fork_join_meets, fork_join_range_meets, fork_each_meets}) {
    for (int round = 0; round < 5; ++round) {
      std::atomic<int> begun{0};
      rt.run(all(begun));
      EXPECT_EQ(begun.load(), eight) << "combinator " << n;
    }
    ++n;
  }
}

/// After groups of children that were ready at once, too.
TEST(ready_children, that_compute_for_long_use_all_workers_after_many_that_did_not) {
  test_runtime rt(eight);
  for (const auto all : {when_all_meets, fork_join_meets}) {
    std::atomic<int> begun{0};
    rt.run([](auto last, std::atomic<int>& b) -> task<void> {
      const auto ready = []() -> task<int> { co_return 1; };
      for (int i = 0; i < 20'000; ++i) {
        (void)co_await tandem::when_all(ready(), ready(), ready(), ready());
      }
      co_await last(b);
    }(all, begun));
    EXPECT_EQ(begun.load(), eight);
  }
}

TEST(ready_children, that_only_ask_are_told_of_a_stop_from_above) {
  test_runtime rt(4);
  std::atomic<int> asking{0};
  auto handle = rt->spawn([](std::atomic<int>& a) -> task<std::vector<stop_reason>> {
    auto [x, y] = co_await tandem::when_all(asks_until_stopped(a), asks_until_stopped(a));
    co_return std::vector<stop_reason>{x, y};
  }(asking));
  while (asking.load() < 2) std::this_thread::yield();
  handle.cancel();
  EXPECT_EQ(handle.wait(), (std::vector<stop_reason>{stop_reason::user, stop_reason::user}));
}

TEST(ready_children, that_only_ask_are_told_of_a_siblings_failure) {
  test_runtime rt(4);
  std::atomic<int> asking{0};
  const auto fails = [](std::atomic<int>& a) -> task<stop_reason> {
    while (a.load() == 0) std::this_thread::yield();
    throw std::runtime_error("planned");
    co_return stop_reason::none;
  };
  std::atomic<stop_reason> told{stop_reason::none};
  rt.run([](auto fails_so, std::atomic<int>& a, std::atomic<stop_reason>& heard) -> task<void> {
    const auto asks = [](std::atomic<int>& b, std::atomic<stop_reason>& at) -> task<stop_reason> {
      at = co_await asks_until_stopped(b);
      co_return at.load();
    };
    EXPECT_THROW((void)co_await tandem::when_all(asks(a, heard), fails_so(a)), std::runtime_error);
  }(fails, asking, told));
  EXPECT_EQ(told.load(), stop_reason::sibling_failed);
}

/// Groups in groups, more than may be asked one by one; the innermost waits, or asks.
task<stop_reason> nested(int levels, bool waits, std::atomic<int>& there) {
  if (levels > 0) {
    auto [got] = co_await tandem::when_all(nested(levels - 1, waits, there));
    co_return got;
  }
  if (!waits) co_return co_await asks_until_stopped(there);
  ++there;
  const auto slept = co_await tandem::as_result(tandem::sleep_for(10h));
  EXPECT_TRUE(slept.is_cancelled());
  co_return tandem::current_stop_reason();
}

TEST(ready_children, a_stop_comes_down_through_any_number_of_groups_in_which_nobody_has_waited) {
  test_runtime rt(3);
  for (const int levels : {1, 2, 15, 16, 17, 33, 200}) {
    for (const bool waits : {false, true}) {
      std::atomic<int> there{0};
      auto handle = rt->spawn(nested(levels, waits, there));
      while (there.load() == 0) std::this_thread::yield();
      handle.cancel();
      EXPECT_EQ(handle.wait(), stop_reason::user) << levels << " levels";
    }
  }
}

TEST(ready_children, what_they_spawn_is_reached_by_a_stop) {
  test_runtime rt(3);
  std::atomic<int> there{0};
  auto handle = rt->spawn([](std::atomic<int>& t) -> task<stop_reason> {
    stop_reason seen = stop_reason::none;
    const auto spawns = [&]() -> task<void> {
      const auto body = [&](tandem::task_scope& scope) -> task<void> {
        const auto sleeps = [](std::atomic<int>& at, stop_reason& told) -> task<void> {
          ++at;
          (void)co_await tandem::as_result(tandem::sleep_for(10h));
          told = tandem::current_stop_reason();
        };
        scope.spawn(sleeps(t, seen));
        co_await scope.join();
      };
      co_await tandem::with_scope(body);
    };
    (void)co_await tandem::as_result(tandem::when_all(tandem::when_all(spawns())));
    co_return seen;
  }(there));
  while (there.load() == 0) std::this_thread::yield();
  handle.cancel();
  EXPECT_EQ(handle.wait(), stop_reason::user);
}

TEST(ready_children, a_listener_in_a_group_hears_of_a_stop) {
  test_runtime rt(2);
  std::atomic<int> there{0};
  auto handle = rt->spawn([](std::atomic<int>& t) -> task<bool> {
    const auto body = [&t](std::stop_token token) -> task<bool> {
      ++t;
      const auto limit = std::chrono::steady_clock::now() + 30s;
      while (!token.stop_requested() && std::chrono::steady_clock::now() < limit)
        std::this_thread::yield();
      co_return token.stop_requested();
    };
    auto [heard] = co_await tandem::when_all(tandem::with_stop_token(body));
    co_return heard;
  }(there));
  while (there.load() == 0) std::this_thread::yield();
  handle.cancel();
  EXPECT_TRUE(handle.wait());
}

TEST(ready_children, of_a_group_that_a_stop_had_reached_before_are_told_so) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    const auto asks = []() -> task<stop_reason> { co_return tandem::current_stop_reason(); };
    const auto in_group = [&asks]() -> task<stop_reason> {
      auto [first, second] = co_await tandem::when_all(asks(), asks());
      EXPECT_EQ(first, second);
      co_return first;
    };
    EXPECT_EQ(co_await tandem::with_timeout(-1s, in_group()), stop_reason::deadline);
    EXPECT_EQ(co_await tandem::shielded(in_group()), stop_reason::none);
    const auto shielded_inside = [&in_group]() -> task<stop_reason> {
      co_return co_await tandem::shielded(in_group());
    };
    EXPECT_EQ(co_await tandem::with_timeout(-1s, shielded_inside()), stop_reason::none);
  }());
}

/// What was stopped before anything waited below it is seen all the same.
TEST(ready_children, that_clean_up_in_a_group_that_was_stopped_before_are_in_dumps) {
  test_runtime rt(2);
  tandem::event ready_to_end;
  auto handle = rt->spawn([](tandem::event& end) -> task<bool> {
    const auto fails = []() -> task<void> {
      throw std::runtime_error("planned");
      co_return;
    };
    const auto cleans_up = [&end]() -> task<void> { co_await tandem::shielded(end.wait()); };
    const auto got = co_await tandem::as_result(tandem::when_all(fails(), cleans_up()));
    co_return got.has_value();
  }(ready_to_end));
  const auto limit = std::chrono::steady_clock::now() + 30s;
  std::string seen;
  while (seen.find("waits for an event") == std::string::npos &&
         std::chrono::steady_clock::now() < limit) {
    seen = rt->dump();
  }
  EXPECT_NE(seen.find("waits for an event"), std::string::npos) << seen;
  ready_to_end.set();
  EXPECT_FALSE(handle.wait());
}

/// A child that has suspended does not keep its siblings from being called at once.
TEST(ready_children, are_called_although_one_before_them_waits) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    std::vector<int> order;
    const auto child = [&order](int n, bool waits) -> task<void> {
      order.push_back(n);
      if (waits) co_await tandem::sleep_for(std::chrono::milliseconds(20 * (n + 1)));
      order.push_back(10 + n);
    };
    co_await tandem::when_all(child(0, true), child(1, false), child(2, true), child(3, false));
    EXPECT_EQ(order, (std::vector<int>{0, 1, 11, 2, 3, 13, 10, 12}));
  }());
}

task<int> deep(int levels) {
  if (levels == 0) co_return 0;
  co_return 1 + co_await deep(levels - 1);
}
/// With an environment of its own on the way down.
task<int> deep_with_limit(int levels) { co_return co_await tandem::with_timeout(1h, deep(levels)); }

constexpr int deep_levels = 20'000;

/// A child that has used up the stack goes on when that has unwound: no sibling may be called before, since that may
/// use up the stack, too, and take its place. Found by review; each of these hung.
TEST(ready_children, that_use_up_the_stack_all_go_on) {
  for (const unsigned threads : {1U, 3U}) {
    test_runtime rt(threads);
    rt.run([]() -> task<void> {
      auto [a, b, c] = co_await tandem::when_all(deep(deep_levels), deep(deep_levels), deep(1));
      EXPECT_EQ(a + b + c, 2 * deep_levels + 1);
      auto [d, e] =
          co_await tandem::when_all(deep_with_limit(deep_levels), deep_with_limit(deep_levels));
      EXPECT_EQ(d + e, 2 * deep_levels);
      std::vector<task<int>> many;
      for (int i = 0; i < 10; ++i)
        many.push_back(i % 2 == 0 ? deep(deep_levels) : deep_with_limit(deep_levels));
      int sum = 0;
      for (const int each : co_await tandem::when_all(std::move(many))) sum += each;
      EXPECT_EQ(sum, 10 * deep_levels);
      auto [first, results] = co_await tandem::when_any(deep(deep_levels), deep(deep_levels));
      EXPECT_TRUE(std::get<0>(results).has_value() && std::get<1>(results).has_value());
      EXPECT_LT(first, 2U);
      EXPECT_EQ(co_await tandem::race(deep(deep_levels), deep(deep_levels)), deep_levels);
    }());
  }
}

TEST(ready_children, keep_their_environment_when_the_stack_has_unwound) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    const auto in_limit = []() -> task<stop_reason> {
      EXPECT_EQ(co_await deep(20'000), 20'000);
      co_return tandem::current_stop_reason();
    };
    const auto ready = []() -> task<int> { co_return 1; };
    auto [reason, one] = co_await tandem::when_all(tandem::with_timeout(-1s, in_limit()), ready());
    EXPECT_EQ(reason, stop_reason::deadline);
    EXPECT_EQ(one, 1);
    EXPECT_EQ(tandem::current_stop_reason(), stop_reason::none);
  }());
}

TEST(ready_children, are_told_the_first_reason_whatever_comes_later) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    const auto group = []() -> task<stop_reason> {
      stop_reason before = stop_reason::none;
      const auto asks = [&before]() -> task<void> {
        before = tandem::current_stop_reason();
        co_return;
      };
      const auto fails = []() -> task<void> {
        throw std::runtime_error("planned");
        co_return;
      };
      stop_reason after = stop_reason::none;
      const auto asks_again = [&after]() -> task<void> {
        after = tandem::current_stop_reason();
        co_return;
      };
      (void)co_await tandem::as_result(tandem::when_all(asks(), fails(), asks_again()));
      EXPECT_EQ(before, stop_reason::deadline);
      co_return after;
    };
    EXPECT_EQ(co_await tandem::with_timeout(-1s, group()), stop_reason::deadline);
  }());
}

/// A thread that runs a part of a task in which nobody has waited yet is not taken for nobody.
TEST(ready_children, that_compute_are_no_standstill) {
  test_runtime rt(2);
  tandem::event other;
  std::atomic<bool> computes{false};
  std::atomic<bool> is_over{false};
  auto handle =
      rt->spawn([](tandem::event& e, std::atomic<bool>& c, std::atomic<bool>& o) -> task<void> {
        const auto waits = [&e]() -> task<void> { co_await e.wait(); };
        const auto works = [&]() -> task<void> {
          const auto inner = [&]() -> task<void> {
            c = true;
            while (!o) std::this_thread::yield();
            co_return;
          };
          co_await tandem::when_all(inner());
          e.set();
        };
        co_await tandem::when_all(waits(), works());
      }(other, computes, is_over));
  while (!computes) std::this_thread::yield();
  for (int i = 0; i < 20; ++i) {
    for (const std::string& each : rt->diagnose())
      EXPECT_EQ(each.find("standstill"), std::string::npos) << each;
  }
  is_over = true;
  handle.wait();
}

TEST(ready_children, failures_before_any_wait_are_kept_or_reported_once) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    const auto fails = [](const char* what) -> task<int> {
      throw std::runtime_error(what);
      co_return 0;
    };
    const auto got = co_await tandem::as_result(tandem::when_all(fails("first"), fails("second")));
    EXPECT_FALSE(got.has_value());
    try {
      std::rethrow_exception(got.exception());
    } catch (const std::runtime_error& failure) {
      EXPECT_STREQ(failure.what(), "first");
    }
  }());
}

}  // namespace
