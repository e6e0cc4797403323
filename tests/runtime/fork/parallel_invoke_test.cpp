// parallel_invoke_test.cpp: plain functions that call in parallel.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tandem/fork_join.hpp>
#include <tandem/parallel_invoke.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <variant>
#include <vector>

#include "test_runtime.hpp"

namespace {

using tandem::parallel_invoke;
using tandem::task;
using tandem::test::test_runtime;

long fib(int n) {
  if (n < 2) return n;
  auto [a, b] = parallel_invoke([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
  return a + b;
}

template <class F>
auto on_worker(test_runtime& rt, F f) {
  return rt.run([](F call) -> task<decltype(call())> { co_return call(); }(std::move(f)));
}

void wait_for(const std::atomic<bool>& event) {
  while (!event.load()) std::this_thread::yield();
}

TEST(parallel_invoke, recursion_is_right_for_any_number_of_workers) {
  for (const unsigned threads : {1U, 2U, 4U, 8U}) {
    test_runtime rt(threads);
    EXPECT_EQ(on_worker(rt, [] { return fib(22); }), 17711) << threads;
  }
}

TEST(parallel_invoke, outside_a_worker_it_calls_one_after_the_other) {
  EXPECT_EQ(fib(10), 55);
  std::vector<int> order;
  parallel_invoke([&] { order.push_back(1); }, [&] { order.push_back(2); },
                  [&] { order.push_back(3); });
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(parallel_invoke, yields_a_tuple_with_monostate_for_void) {
  test_runtime rt;
  on_worker(rt, [] {
    int x = 7;
    auto [text, nothing, reference, box] =
        parallel_invoke([] { return std::string("text"); }, [] {}, [&]() -> int& { return x; },
                        [] { return std::make_unique<int>(4); });
    EXPECT_EQ(text, "text");
    EXPECT_EQ(nothing, std::monostate());
    EXPECT_EQ(&reference, &x);
    EXPECT_EQ(*box, 4);
    static_assert(std::is_void_v<decltype(parallel_invoke([] {}, [] {}))>);
    return 0;
  });
}

TEST(parallel_invoke, an_idle_worker_takes_the_second_call) {
  test_runtime rt(2);
  on_worker(rt, [] {
    for (int i = 0; i < 200; ++i) {
      std::atomic<bool> begun{false};
      std::thread::id first;
      std::thread::id second;
      auto [a, b] = parallel_invoke(
          [&] {
            wait_for(begun);
            first = std::this_thread::get_id();
            return std::string(100, 'a');
          },
          [&] {
            second = std::this_thread::get_id();
            begun.store(true);
            return fib(i % 12);  // ends before or after the first
          });
      EXPECT_NE(first, second);
      EXPECT_EQ(a.size(), 100U);
      EXPECT_GE(b, 0);
    }
    return 0;
  });
}

TEST(parallel_invoke, whoever_waits_helps_with_what_descends_from_the_stolen_call) {
  test_runtime rt(2);
  on_worker(rt, [] {
    std::atomic<bool> begun{false};
    std::thread::id waiter = std::this_thread::get_id();
    std::atomic<bool> helped{false};
    parallel_invoke([&] { wait_for(begun); },
                    [&] {
                      begun.store(true);
                      // Only the waiter is left to run the inner second call.
                      parallel_invoke([&] { wait_for(helped); },
                                      [&] { helped = std::this_thread::get_id() == waiter; });
                    });
    EXPECT_TRUE(helped.load());
    return 0;
  });
}

TEST(parallel_invoke, an_exception_of_either_call_comes_out_when_both_have_ended) {
  for (const unsigned threads : {1U, 2U}) {
    std::atomic<int> suppressed{0};
    tandem::runtime_options options = tandem::test::with_threads(threads);
    options.on_suppressed_exception = [&](const std::exception_ptr&) { ++suppressed; };
    test_runtime rt(options);
    on_worker(rt, [] {
      EXPECT_THROW(parallel_invoke([] { throw std::runtime_error("left"); }, [] {}),
                   std::runtime_error);
      EXPECT_THROW(
          parallel_invoke([] { return 1; }, []() -> int { throw std::logic_error("right"); }),
          std::logic_error);
      EXPECT_EQ(fib(5), 5);
      return 0;
    });
    EXPECT_EQ(suppressed.load(), 0);
  }
  std::atomic<int> suppressed{0};
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.on_suppressed_exception = [&](const std::exception_ptr&) { ++suppressed; };
  test_runtime rt(options);
  on_worker(rt, [] {
    std::atomic<bool> begun{false};
    std::atomic<bool> ended{false};
    try {
      parallel_invoke(
          [&] {
            wait_for(begun);
            throw std::runtime_error("left");
          },
          [&]() -> int {
            begun.store(true);
            fib(15);
            ended.store(true);
            throw std::logic_error("right");
          });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(ended.load());
    }
    return 0;
  });
  EXPECT_EQ(suppressed.load(), 1);
}

// The waiter may hold a lock, so it must not run what has nothing to do with its call.
TEST(parallel_invoke, a_lock_held_across_it_is_safe) {
  test_runtime rt(2);
  std::mutex lock;
  long sum = 0;
  rt.run([](std::mutex& guarding, long& total) -> task<void> {
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 200; ++i) {
        scope.spawn([](std::mutex& guard, long& all) -> task<void> {
          co_await tandem::yield();
          const std::lock_guard held(guard);
          all += fib(8);
        }(guarding, total));
      }
      co_return;
    });
  }(lock, sum));
  EXPECT_EQ(sum, 200 * 21);
}

TEST(parallel_invoke, mixes_with_forked_coroutines) {
  struct mixed {
    static task<long> go(int n) {
      if (n < 10) co_return fib(n);
      if (n % 5 == 0) co_await tandem::yield();
      auto [a, b] = co_await tandem::fork_join(go(n - 1), go(n - 2));
      co_return a + b;
    }
  };
  for (const unsigned threads : {1U, 2U, 4U}) {
    test_runtime rt(threads);
    EXPECT_EQ(rt.run(mixed::go(22)), 17711);
  }
}

}  // namespace
