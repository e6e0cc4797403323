// invoke_test.cpp: closure and arguments live until the task has ended.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/invoke.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::invoke;
using tandem::task;
using tandem::test::test_runtime;

TEST(invoke, keeps_captures_and_arguments_until_the_task_has_ended) {
  test_runtime rt;
  auto life = std::make_shared<std::string>("a string that is too long for the small buffer");
  rt.run([](std::shared_ptr<std::string> token) -> task<void> {
    int factor = 3;
    const int got = co_await invoke(
        [factor](int n) -> task<int> {
          co_await tandem::sleep_for(50us);
          co_return factor* n;
        },
        14);
    EXPECT_EQ(got, 42);
    const auto reads = [token](const std::string& more) -> task<std::size_t> {
      co_await tandem::yield();
      co_return token->size() + more.size();
    };
    EXPECT_EQ(co_await invoke(reads, std::string("12345")), token->size() + 5);
  }(life));
  EXPECT_EQ(life.use_count(), 1);
}

TEST(invoke, a_named_closure_that_cannot_be_copied_is_moved_in_and_destroyed_once) {
  test_runtime rt;
  auto life = std::make_shared<int>(42);
  rt.run([](std::shared_ptr<int> token) -> task<void> {
    {
      auto named = [token, own = std::make_unique<int>(8)](int more) -> task<int> {
        co_await tandem::yield();
        co_return *token + *own + more;
      };
      EXPECT_EQ(co_await invoke(tandem::moved(named), 5), 55);
      EXPECT_EQ(token.use_count(), 2) << "the closure is gone with its task";
    }
    auto another = [token, own = std::make_unique<int>(1)]() -> task<int> { co_return *own; };
    auto later = invoke(tandem::moved(another));
    EXPECT_EQ(co_await std::move(later), 1);
  }(life));
  EXPECT_EQ(life.use_count(), 1);
}

TEST(invoke, is_a_task_that_can_be_spawned_and_limited) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    int sum = 0;
    auto body = [&sum](tandem::task_scope& scope) -> task<void> {
      for (int i = 1; i <= 10; ++i) {
        const auto child = [&sum, owned = std::make_shared<int>(i)]() -> task<void> {
          co_await tandem::yield();
          sum += *owned;
        };
        scope.spawn(invoke(child));
        co_await scope.join();
      }
    };
    co_await tandem::with_scope(body);
    EXPECT_EQ(sum, 55);
    const auto got = co_await tandem::as_result(
        tandem::with_timeout(1ms, invoke([]() -> task<void> { co_await tandem::sleep_for(10h); })));
    EXPECT_TRUE(got.is_cancelled());
  }());
}

TEST(invoke, a_failure_of_the_call_or_of_the_task_comes_out) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto no_coroutine = []() -> task<int> { throw std::logic_error("call"); };
    const auto coroutine = []() -> task<int> {
      co_await tandem::yield();
      throw std::runtime_error("task");
    };
    auto first = co_await tandem::as_result(invoke(no_coroutine));
    EXPECT_THROW(first.value(), std::logic_error);
    auto second = co_await tandem::as_result(invoke(coroutine));
    EXPECT_THROW(second.value(), std::runtime_error);
  }());
}

TEST(invoke, destroyed_before_its_start_it_calls_nothing) {
  auto life = std::make_shared<int>(1);
  {
    const auto f = [life]() -> task<int> {
      ADD_FAILURE() << "called";
      co_return *life;
    };
    auto unused = invoke(f);
    EXPECT_EQ(life.use_count(), 3);
  }
  EXPECT_EQ(life.use_count(), 1);
}

TEST(invoke, member_functions_and_references_work) {
  test_runtime rt;
  struct counter {
    int value = 0;
    task<int> add(int n) {
      co_await tandem::yield();
      co_return value += n;
    }
  };
  counter it;
  rt.run([](counter& c) -> task<void> {
    EXPECT_EQ(co_await invoke(&counter::add, &c, 5), 5);
    const auto refer = [](int& n) -> task<int&> { co_return n; };
    EXPECT_EQ(&co_await invoke(refer, std::ref(c.value)), &c.value);
  }(it));
  EXPECT_EQ(it.value, 5);
}

}  // namespace
