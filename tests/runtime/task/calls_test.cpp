// calls_test.cpp: children are called on the stack of their parent, and everything still holds: arguments, depth, failures.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <ranges>
#include <stdexcept>
#include <tandem/as_result.hpp>
#include <tandem/fork_each.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::fork_join;
using tandem::task;
using tandem::test::test_runtime;

/// Counts how many of its kind live.
class counted {
 public:
  explicit counted(std::atomic<int>& live) : live_(&live) { ++*live_; }
  counted(const counted& other) : live_(other.live_) { ++*live_; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*live_; }

 private:
  std::atomic<int>* live_;
};

task<int> holds(counted, int suspensions) {
  for (int i = 0; i < suspensions; ++i) co_await tandem::yield();
  co_return suspensions;
}

TEST(calls, arguments_of_a_child_are_gone_when_its_parent_goes_on) {
  test_runtime rt;
  std::atomic<int> live{0};
  rt.run([](std::atomic<int>& count) -> task<void> {
    for (const int suspensions : {0, 1, 3}) {
      EXPECT_EQ(co_await holds(counted(count), suspensions), suspensions);
      EXPECT_EQ(count.load(), 0);
      auto [a, b] =
          co_await fork_join(holds(counted(count), suspensions), holds(counted(count), 0));
      EXPECT_EQ(count.load(), 0);
      EXPECT_EQ(a + b, suspensions);
      std::vector<task<int>> many;
      for (int i = 0; i < 100; ++i) many.push_back(holds(counted(count), i % 3 * suspensions));
      (void)co_await fork_join(std::move(many));
      EXPECT_EQ(count.load(), 0);
    }
    {
      const task<int> never = holds(counted(count), 0);
      EXPECT_EQ(count.load(), 1);
    }
    EXPECT_EQ(count.load(), 0);
  }(live));
}

task<int> down(int depth, bool throws) {
  if (depth == 0) {
    if (throws) throw std::runtime_error("at the bottom");
    co_await tandem::yield();
    co_return 0;
  }
  co_return co_await down(depth - 1, throws) + 1;
}

TEST(calls, deep_chains_suspend_and_throw_without_using_the_stack) {
  test_runtime rt;
  EXPECT_EQ(rt.run(down(300'000, false)), 300'000);
  EXPECT_THROW(rt.run(down(20'000, true)), std::runtime_error);
}

task<long> comb(int depth) {  // a fork at every level, one child of which goes on
  if (depth == 0) co_return 1;
  auto [a, b] = co_await fork_join(comb(depth - 1), comb(0));
  co_return a + b;
}
task<long> mirrored_comb(int depth) {
  if (depth == 0) co_return 1;
  auto [a, b] = co_await fork_join(mirrored_comb(0), mirrored_comb(depth - 1));
  co_return a + b;
}

TEST(calls, forks_may_be_nested_far_deeper_than_the_stack) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    test_runtime rt(threads);
    EXPECT_EQ(rt.run(comb(100'000)), 100'001);
    EXPECT_EQ(rt.run(mirrored_comb(100'000)), 100'001);
  }
}

TEST(calls, an_array_yields_an_array_and_a_view_a_vector) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto twice = [](int x) -> task<std::unique_ptr<int>> {
      co_return std::make_unique<int>(2 * x);
    };
    std::array<task<std::unique_ptr<int>>, 3> three{twice(1), twice(2), twice(3)};
    const auto boxes = co_await fork_join(std::move(three));
    static_assert(std::is_same_v<decltype(boxes), const std::array<std::unique_ptr<int>, 3>>);
    EXPECT_EQ(*boxes[0] + *boxes[1] + *boxes[2], 12);

    const std::vector<std::unique_ptr<int>> doubled =
        co_await fork_join(std::views::iota(0, 50) | std::views::transform(twice));
    EXPECT_EQ(doubled.size(), 50U);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(*doubled[i], static_cast<int>(2 * i));

    std::array<task<void>, 2> nothing{[]() -> task<void> { co_return; }(),
                                      []() -> task<void> { co_await tandem::yield(); }()};
    co_await fork_join(std::move(nothing));
  }());
}

// A tree whose nodes end in every way there is.
struct wild_tree {
  std::atomic<int> live{0};
  std::atomic<int> failures{0};

  task<int> node(int depth, unsigned random, counted) {
    const unsigned mine = random * 2654435761U;
    const unsigned what = (mine >> 16) % 64;
    if (what == 0) co_await tandem::yield();
    if (what == 1) co_await tandem::sleep_for(10us);
    if (what == 2) {
      ++failures;
      throw std::runtime_error("node");
    }
    if (depth == 0) co_return 1;
    const auto one = [&](unsigned i) { return node(depth - 1, mine + i, counted(live)); };
    if (what < 32) {
      auto [a, b, c] = co_await fork_join(one(1), one(2), one(3));
      co_return a + b + c;
    }
    std::vector<task<int>> children;
    for (unsigned i = 0; i < what % 7; ++i) children.push_back(one(i));
    int sum = 0;
    for (const int each : co_await fork_join(std::move(children))) sum += each;
    co_return sum;
  }
};

TEST(calls, failures_amid_wide_and_deep_forks_leave_nothing_behind) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    std::atomic<int> suppressed{0};
    tandem::runtime_options options = tandem::test::with_threads(threads);
    options.on_suppressed_exception = [&](const std::exception_ptr&) { ++suppressed; };
    test_runtime rt(options);
    int thrown = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
      wild_tree tree;
      const int before = suppressed.load();
      try {
        rt.run(tree.node(7, seed, counted(tree.live)));
      } catch (const std::runtime_error&) {
        ++thrown;
        EXPECT_GT(tree.failures.load(), suppressed.load() - before);
      }
      EXPECT_EQ(tree.live.load(), 0) << "seed " << seed;
    }
    EXPECT_GT(thrown, 0);
  }
}

TEST(calls, a_stop_amid_wide_and_deep_forks_leaves_nothing_behind) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    tandem::runtime_options options = tandem::test::with_threads(threads);
    options.on_suppressed_exception = [](const std::exception_ptr&) {};
    test_runtime rt(options);
    for (unsigned seed = 0; seed < 60; ++seed) {
      wild_tree tree;
      rt.run([](wild_tree& all, unsigned random) -> task<void> {
        (void)co_await tandem::as_result(tandem::with_timeout(
            std::chrono::microseconds(random % 10 * 100), all.node(8, random, counted(all.live))));
        EXPECT_EQ(all.live.load(), 0);
      }(tree, seed));
    }
  }
}

// What could not be made counts as failed; what was made runs.
TEST(calls, fork_each_survives_a_maker_that_throws) {
  for (const unsigned threads : {1U, 2U}) {
    test_runtime rt(threads);
    for (const int at : {0, 5, 9}) {
      std::atomic<int> live{0};
      std::atomic<int> ran{0};
      rt.run([](int bad, std::atomic<int>& count, std::atomic<int>& done) -> task<void> {
        const auto child = [](counted, std::atomic<int>& n) -> task<void> {
          ++n;
          co_return;
        };
        try {
          co_await tandem::fork_each(10, [&](std::size_t i) {
            if (static_cast<int>(i) == bad) throw std::runtime_error("made no child");
            return child(counted(count), done);
          });
          ADD_FAILURE() << "nothing was thrown";
        } catch (const std::runtime_error&) {
          EXPECT_EQ(done.load(), 9 - bad);  // they are made from the last to the first
        }
      }(at, live, ran));
      EXPECT_EQ(live.load(), 0);
    }
  }
}

TEST(calls, fork_each_yields_results_in_order) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto box = [](std::size_t i) -> task<std::unique_ptr<std::size_t>> {
      if (i % 5 == 0) co_await tandem::yield();
      co_return std::make_unique<std::size_t>(i);
    };
    for (const std::size_t n : {0UL, 1UL, 2UL, 77UL}) {
      auto boxes = co_await tandem::fork_each(n, box);
      EXPECT_EQ(boxes.size(), n);
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(*boxes[i], i);
      std::size_t sum = 0;
      for (const auto& each : boxes) sum += *each;
      EXPECT_EQ(sum, n == 0 ? 0 : n * (n - 1) / 2);
    }
    const std::array<std::unique_ptr<std::size_t>, 4> four = co_await tandem::fork_each<4>(box);
    EXPECT_EQ(*four[3], 3U);
  }());
}

TEST(calls, more_children_than_memory_has_addresses_are_refused) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto child = [](std::size_t) -> task<int> { co_return 1; };
    EXPECT_THROW((void)co_await tandem::fork_each(static_cast<std::size_t>(-1), child),
                 std::bad_array_new_length);
  }());
}

TEST(calls_death, forking_an_empty_task_says_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        test_runtime rt(1);
        rt.run([]() -> task<void> {
          co_await tandem::fork_each(2, [](std::size_t) { return task<void>(); });
        }());
      },
      "an empty task");
}

}  // namespace
