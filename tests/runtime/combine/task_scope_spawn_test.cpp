// task_scope_spawn_test.cpp: how a scope starts its children: when a place is free, and from callables that it keeps.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/worker_pool.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "runtime/combine/scope_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::nothing;
using tandem::test::sleep_long;
using tandem::test::test_runtime;

TEST(task_scope, spawn_when_free_keeps_the_limit_and_starts_in_order) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    std::vector<int> order;
    int running = 0;
    int most = 0;
    const auto child = [](std::vector<int>& o, int& now, int& peak, int n) -> task<void> {
      o.push_back(n);
      peak = std::max(peak, ++now);
      co_await tandem::yield();
      if (n % 4 == 0) co_await tandem::sleep_for(20us);
      --now;
    };
    const auto body = [&](task_scope& scope) -> task<void> {
      scope.set_max_in_flight(3);
      for (int i = 0; i < 50; ++i) {
        co_await scope.spawn_when_free(child(order, running, most, i));
        EXPECT_LE(running, 3);
      }
    };
    co_await with_scope(body);
    EXPECT_EQ(most, 3);
    EXPECT_EQ(order.size(), 50U);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  }());
}

TEST(task_scope, spawn_never_waits_but_its_children_count) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    bool waited_for = false;
    const auto child = [](bool& ended) -> task<void> {
      for (int i = 0; i < 10; ++i) co_await tandem::yield();
      ended = true;
    };
    const auto body = [&](task_scope& scope) -> task<void> {
      scope.set_max_in_flight(1);
      scope.spawn(child(waited_for));
      scope.spawn(nothing());
      co_await scope.spawn_when_free(nothing());
      EXPECT_TRUE(waited_for);
    };
    co_await with_scope(body);
  }());
}

TEST(task_scope, a_stop_ends_the_wait_for_a_place_and_the_child_never_starts) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto never = []() -> task<void> {
      ADD_FAILURE() << "started";
      co_return;
    };
    const auto body = [&](task_scope& scope) -> task<void> {
      scope.set_max_in_flight(1);
      scope.spawn(sleep_long());
      const auto got =
          co_await tandem::as_result(tandem::with_timeout(1ms, scope.spawn_when_free(never())));
      EXPECT_TRUE(got.is_cancelled());
      scope.request_stop();
      EXPECT_TRUE((co_await tandem::as_result(scope.spawn_when_free(never()))).is_cancelled());
    };
    co_await with_scope(body);
  }());
}

TEST(task_scope, a_higher_limit_lets_waiters_in) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    int begun = 0;
    const auto sleeps = [](int& count) -> task<void> {
      ++count;
      co_await sleep_long();
    };
    const auto body = [&](task_scope& scope) -> task<void> {
      scope.set_max_in_flight(1);
      const auto adds = [](task_scope& to, task<void> child) -> task<void> {
        co_await to.spawn_when_free(std::move(child));
      };
      scope.spawn(sleeps(begun));
      auto first = tandem::spawn(adds(scope, sleeps(begun)));
      auto second = tandem::spawn(adds(scope, sleeps(begun)));
      for (int i = 0; i < 10; ++i) co_await tandem::yield();
      EXPECT_EQ(begun, 1);
      scope.set_max_in_flight(2);
      co_await first;
      for (int i = 0; i < 10; ++i) co_await tandem::yield();
      EXPECT_EQ(begun, 2);
      scope.set_max_in_flight(0);
      co_await second;
      for (int i = 0; i < 10; ++i) co_await tandem::yield();
      EXPECT_EQ(begun, 3);
      scope.request_stop();
    };
    co_await with_scope(body);
  }());
}

TEST(task_scope, places_are_given_and_waits_stopped_in_any_order) {
  test_runtime rt(4);
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  std::atomic<int> spawned{0};
  rt.run([](std::atomic<int>& b, std::atomic<int>& e, std::atomic<int>& s) -> task<void> {
    const auto child = [](std::atomic<int>& begins, std::atomic<int>& ends, int n) -> task<void> {
      ++begins;
      if (n % 2 == 0) (void)co_await tandem::as_result(tandem::sleep_for(2us));
      ++ends;
    };
    for (int round = 0; round < 300; ++round) {
      const auto body = [&](task_scope& scope) -> task<void> {
        scope.set_max_in_flight(2);
        for (int i = 0; i < 8; ++i) {
          const auto got = co_await tandem::as_result(tandem::with_timeout(
              std::chrono::microseconds((round + i) % 9), scope.spawn_when_free(child(b, e, i))));
          if (got) ++s;
        }
      };
      co_await with_scope(body);
      EXPECT_EQ(b.load(), e.load());
      EXPECT_EQ(b.load(), s.load());
    }
  }(begun, ended, spawned));
  EXPECT_GT(begun.load(), 0);
}

/// Too long for the small buffer: a copy that was destroyed shows.
std::string long_text() { return "a string that is too long for the small buffer of its kind"; }

// A closure that was gone when its child went on.
TEST(task_scope, a_callable_and_its_arguments_live_until_the_child_has_ended) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto token = std::make_shared<std::string>(long_text());
    std::atomic<std::size_t> sum{0};
    const auto body = [&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 20; ++i) {
        scope.spawn([&sum, token, text = long_text()]() -> task<void> {
          co_await tandem::yield();
          sum += token->size() + text.size();
        });
        scope.spawn(tandem::workers(), [&sum, token]() -> task<void> {
          co_await tandem::yield();
          sum += token->size();
        });
        scope.spawn(
            [&sum](const std::string& first, std::unique_ptr<std::string> second,
                   std::size_t factor) -> task<void> {
              co_await tandem::yield();
              sum += first.size() + factor * second->size();
            },
            long_text(), std::make_unique<std::string>(long_text()), std::size_t{2});
      }
      co_return;
    };
    co_await with_scope(body);
    EXPECT_EQ(sum.load(), 20 * 6 * long_text().size());
    EXPECT_EQ(token.use_count(), 1);
  }());
}

TEST(task_scope, spawn_when_free_keeps_a_callable_until_the_child_has_ended) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto token = std::make_shared<std::string>(long_text());
    std::atomic<std::size_t> sum{0};
    const auto body = [&](task_scope& scope) -> task<void> {
      scope.set_max_in_flight(2);
      for (int i = 0; i < 20; ++i) {
        const auto child = [&sum, token](std::size_t factor) -> task<void> {
          co_await tandem::yield();
          sum += factor * token->size();
        };
        co_await scope.spawn_when_free(child, std::size_t{2});
        co_await scope.spawn_when_free(tandem::workers(), child, std::size_t{1});
        co_await scope.spawn_when_free([&sum]() -> task<void> {
          co_await tandem::yield();
          ++sum;
        });
      }
    };
    co_await with_scope(body);
    EXPECT_EQ(sum.load(), 20 * (3 * long_text().size() + 1));
    EXPECT_EQ(token.use_count(), 1);
  }());
}

TEST(task_scope, a_callables_child_knows_where_it_was_spawned_and_its_call_may_fail) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    unsigned found = 0;
    unsigned expected = 0;
    const auto tells = [&found](int /*argument*/) -> task<void> {
      found = tandem::current_environment()->spawned_at().line();
      co_return;
    };
    co_await with_scope([&](task_scope& scope) -> task<void> {
      expected = std::source_location::current().line() + 1;
      scope.spawn(tells, 1);
      co_return;
    });
    EXPECT_EQ(found, expected);
    const auto no_coroutine = []() -> task<void> { throw std::logic_error("call"); };
    const auto body = [&](task_scope& scope) -> task<void> {
      scope.spawn(no_coroutine);
      co_return;
    };
    const auto got = co_await tandem::as_result(with_scope(body));
    EXPECT_THROW(std::rethrow_exception(got.exception()), std::logic_error);
  }());
}

}  // namespace
