// plain_body_test.cpp: callables that return a task, and are no coroutines themselves.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/errors.hpp>
#include <tandem/finally.hpp>
#include <tandem/for_each_concurrent.hpp>
#include <tandem/fork_each.hpp>
#include <tandem/invoke.hpp>
#include <tandem/parallel_invoke.hpp>
#include <tandem/retry.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/stop.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_resource.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "runtime/combine/scope_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::count_stop;
using tandem::test::nothing;
using tandem::test::test_runtime;

task<int> value(int n) {
  co_await tandem::yield();
  co_return n;
}
task<void> count(std::atomic<int>& ended) {
  co_await tandem::sleep_for(50us);
  ++ended;
}

// Found by review: the scope began only after its body had been called, so that spawning there
// crashed.
TEST(plain_body, of_a_scope_spawns_before_it_returns_its_task) {
  for (const unsigned workers : {1U, 2U}) {
    test_runtime rt(workers);
    rt.run([]() -> task<void> {
      std::atomic<int> ended{0};
      const int got = co_await with_scope([&](task_scope& scope) {
        for (int i = 0; i < 100; ++i) scope.spawn(count(ended));
        return value(7);
      });
      EXPECT_EQ(got, 7);
      EXPECT_EQ(ended.load(), 100);
    }());
  }
}

task<void> free_function(task_scope& scope) {
  scope.spawn(nothing());
  return nothing();
}

struct service {
  std::atomic<int> ended{0};
  task<void> start(task_scope& scope) {
    scope.spawn(count(ended));
    return nothing();
  }
};

TEST(plain_body, of_a_scope_is_any_callable) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    co_await with_scope(&free_function);
    co_await with_scope(free_function);
    service one;
    const auto bound = std::bind_front(&service::start, &one);
    co_await with_scope(bound);
    const std::function<task<void>(task_scope&)> erased = bound;
    co_await with_scope(erased);
    EXPECT_EQ(one.ended.load(), 2);
  }());
}

TEST(plain_body, of_a_scope_that_throws_is_waited_for_with_its_children) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const int children : {0, 1, 20}) {
      std::atomic<int> stopped{0};
      const auto plain = [&](task_scope& scope) {
        for (int i = 0; i < children; ++i) {
          scope.spawn(count_stop(stopped, tandem::stop_reason::sibling_failed));
        }
        if (children >= 0) throw std::runtime_error("no task");
        return nothing();
      };
      std::string what;
      try {
        co_await with_scope(plain);
      } catch (const std::runtime_error& failed) {
        what = failed.what();
      }
      EXPECT_EQ(what, "no task");
      EXPECT_EQ(stopped.load(), children);
      EXPECT_EQ(co_await value(3), 3) << "the caller goes on as before";
    }
  }());
}

TEST(plain_body, of_a_scope_runs_in_the_scope) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const tandem::environment* const outside = tandem::current_environment();
    // A stop of the scope is seen, and what is forked here is the scope's.
    co_await with_scope([&](task_scope& scope) {
      EXPECT_NE(tandem::current_environment(), outside);
      int sum[2] = {0, 0};
      tandem::parallel_invoke([&] { sum[0] = 1; }, [&] { sum[1] = 2; });
      EXPECT_EQ(sum[0] + sum[1], 3);
      scope.request_stop();
      EXPECT_TRUE(tandem::stop_requested());
      return nothing();
    });
    EXPECT_EQ(tandem::current_environment(), outside);
    EXPECT_FALSE(tandem::stop_requested());
  }());
}

TEST(plain_body, of_a_scope_may_stand_in_the_body_of_another_and_meet_a_stop) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (int round = 0; round < 300; ++round) {
      std::atomic<int> begun{0};
      std::atomic<int> ended{0};
      const auto child = [](std::atomic<int>& b, std::atomic<int>& e) -> task<void> {
        ++b;
        try {
          co_await tandem::sleep_for(20us);
        } catch (const tandem::operation_cancelled&) {}
        ++e;
      };
      const auto inner = [&](task_scope& scope) {
        for (int i = 0; i < 4; ++i) scope.spawn(child(begun, ended));
        return nothing();
      };
      const auto outer = [&](task_scope& scope) {
        scope.spawn([](auto& of) -> task<void> { co_await with_scope(of); }(inner));
        return [](auto& of) -> task<void> { co_await with_scope(of); }(inner);
      };
      (void)co_await tandem::as_result(
          tandem::with_timeout(std::chrono::microseconds(round % 40), with_scope(outer)));
      EXPECT_EQ(begun.load(), ended.load());
    }
  }());
}

// The token was one that nobody had stopped yet.
TEST(plain_body, of_with_stop_token_sees_that_its_task_has_been_stopped) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    bool seen = false;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.request_stop();
      const auto plain = [&](std::stop_token token) {
        seen = token.stop_requested();
        return nothing();
      };
      co_await tandem::with_stop_token(plain);
    });
    EXPECT_TRUE(seen);
    const auto fails = [](std::stop_token token) {
      if (token.stop_possible()) throw std::runtime_error("no task");
      return nothing();
    };
    const auto failed = co_await tandem::as_result(tandem::with_stop_token(fails));
    EXPECT_FALSE(failed.has_value());
    co_await tandem::yield();
  }());
}

TEST(plain_body, of_finally_runs_out_of_reach_of_the_callers_stop) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    bool cleaned = false;
    bool stopped = true;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.request_stop();
      const auto clean_up = [&] {
        cleaned = true;
        stopped = tandem::stop_requested();
        return nothing();
      };
      co_await tandem::finally(nothing(), clean_up);
    });
    EXPECT_TRUE(cleaned);
    EXPECT_FALSE(stopped);
  }());
}

TEST(plain_body, of_the_other_combinators_is_as_good_as_a_coroutine) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    EXPECT_EQ(co_await tandem::invoke([](int n) { return value(n); }, 3), 3);
    int attempts = 0;
    const auto make = [&] {
      if (++attempts < 3) throw std::runtime_error("not yet");
      return value(attempts);
    };
    EXPECT_EQ(co_await tandem::retry(make, tandem::retry_options().initial_delay(1us)), 3);
    bool released = false;
    const auto use = [](int& resource) { return value(resource + 1); };
    const auto release = [&](int&) {
      released = true;
      return nothing();
    };
    EXPECT_EQ(co_await tandem::with_resource(value(1), use, release), 2);
    EXPECT_TRUE(released);
    std::atomic<int> ended{0};
    const std::vector<int> items(10);
    const auto each = [&](int) { return count(ended); };
    co_await tandem::for_each_concurrent(items, 3, each);
    EXPECT_EQ(ended.load(), 10);
    const auto made = [](std::size_t i) { return value(static_cast<int>(i)); };
    int sum = 0;
    for (const int n : co_await tandem::fork_each(5, made)) sum += n;
    EXPECT_EQ(sum, 10);
  }());
}

}  // namespace
