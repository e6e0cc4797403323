// fork_join_test.cpp: results, failures, suspension and fairness of forks.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <tandem/fork_join.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "simulated.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::fork_join;
using tandem::task;
using tandem::test::test_runtime;

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

TEST(fork_join, fib_is_right_for_any_number_of_workers) {
  for (const unsigned threads : {1U, 2U, 4U, 8U}) {
    test_runtime rt(threads);
    EXPECT_EQ(rt.run(fib(20)), 6765) << threads;
  }
}

TEST(fork_join, yields_a_tuple_with_monostate_for_void) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    auto [name, nothing, box] = co_await fork_join(
        []() -> task<std::string> { co_return "name"; }(), []() -> task<void> { co_return; }(),
        []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); }());
    EXPECT_EQ(name, "name");
    EXPECT_EQ(nothing, std::monostate());
    EXPECT_EQ(*box, 4);
    auto none = co_await fork_join();
    EXPECT_EQ(std::tuple_size_v<decltype(none)>, 0U);
  }());
}

TEST(fork_join, a_range_yields_its_values_in_order_and_may_be_empty) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const int n : {0, 1, 2, 3, 300, 5000}) {
      std::vector<task<int>> children;
      for (int i = 0; i < n; ++i) children.push_back([](int x) -> task<int> { co_return x; }(i));
      const std::vector<int> values = co_await fork_join(std::move(children));
      EXPECT_EQ(values.size(), static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
    }
    std::vector<task<void>> nothing;
    nothing.push_back([]() -> task<void> { co_return; }());
    co_await fork_join(std::move(nothing));
  }());
}

TEST(fork_join, children_that_suspend_and_move_are_joined) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    test_runtime rt(threads);
    const auto sleepy = [](int i) -> task<int> {
      if (i % 3 == 0) co_await tandem::sleep_for(std::chrono::microseconds(50 * (i % 7)));
      if (i % 3 == 1) co_await tandem::yield();
      co_return i;
    };
    const long sum = rt.run([](auto child) -> task<long> {
      long total = 0;
      for (int round = 0; round < 50; ++round) {
        auto [a, b, c, d] =
            co_await fork_join(child(round), child(round + 1), child(round + 2), child(round + 3));
        total += a + b + c + d;
      }
      co_return total;
    }(sleepy));
    EXPECT_EQ(sum, 4 * (49 * 50 / 2) + 6 * 50);
  }
}

TEST(fork_join, the_first_failure_is_rethrown_after_all_children_have_ended) {
  std::atomic<int> suppressed{0};
  // By a virtual clock: on a busy machine 1 ms may end after 30 ms.
  tandem::runtime_options options = tandem::test::simulated(1, 2);
  options.on_suppressed_exception = [&](const std::exception_ptr&) { ++suppressed; };
  test_runtime rt(options);
  std::atomic<int> ended{0};
  const auto fails_at = [](std::atomic<int>& count, int after_ms) -> task<int> {
    co_await tandem::sleep_for(std::chrono::milliseconds(after_ms));
    ++count;
    throw std::runtime_error(std::to_string(after_ms));
  };
  try {
    rt.run([](auto child, std::atomic<int>& count) -> task<void> {
      co_await fork_join(child(count, 60), child(count, 1), child(count, 30));
    }(fails_at, ended));
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "1");
  }
  EXPECT_EQ(ended.load(), 3);
  EXPECT_EQ(suppressed.load(), 2);
}

TEST(fork_join, a_stop_reaches_every_waiting_child) {
  test_runtime rt;
  const auto began = std::chrono::steady_clock::now();
  rt.run([]() -> task<void> {
    std::vector<task<void>> children;
    for (int i = 0; i < 200; ++i) {
      children.push_back([]() -> task<void> { co_await tandem::sleep_for(1h); }());
    }
    try {
      co_await tandem::with_timeout(5ms, [](std::vector<task<void>> all) -> task<void> {
        co_await fork_join(std::move(all));
      }(std::move(children)));
      ADD_FAILURE() << "the timeout did not stop the children";
    } catch (const tandem::operation_cancelled& e) {
      EXPECT_EQ(e.reason(), tandem::stop_reason::deadline);
    }
  }());
  EXPECT_LT(std::chrono::steady_clock::now() - began, 30min);
}

// A recursion that holds every worker runs items of the other lanes between its leaves.
TEST(fork_join, a_long_recursion_on_all_workers_serves_what_is_posted_meanwhile) {
  for (const unsigned threads : {1U, 2U}) {
    test_runtime rt(threads);
    std::atomic<bool> stop{false};
    std::atomic<long> leaves{0};
    // Endless until the posted items have run: without service this test hangs.
    struct search {
      static task<void> go(std::atomic<bool>& end, std::atomic<long>& count, int depth) {
        if (end.load(std::memory_order_relaxed)) co_return;
        if (depth == 0) {
          count.fetch_add(1, std::memory_order_relaxed);
          co_return;
        }
        co_await fork_join(go(end, count, depth - 1), go(end, count, depth - 1));
      }
    };
    auto running = rt->spawn(search::go(stop, leaves, 60));
    while (leaves.load(std::memory_order_relaxed) < 10'000) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(rt->spawn([](int x) -> task<int> {
                    co_await tandem::yield();
                    co_return x;
                  }(i))
                    .wait(),
                i);
    }
    stop.store(true, std::memory_order_relaxed);
    running.wait();
  }
}

TEST(fork_join, without_thieves_no_join_counter_is_needed_and_items_are_not_queued) {
  test_runtime rt(1);
  rt.run(fib(2));
  const auto before = rt.workers().stats().items;
  rt.run(fib(20));
  // The root, and now and then one child after the fairness tick: not 21,891 of them.
  EXPECT_LT(rt.workers().stats().items - before, 100U);
}

}  // namespace
