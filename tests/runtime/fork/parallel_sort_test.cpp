// parallel_sort_test.cpp: order, patterns that ruin a quicksort, throwing comparisons, stops.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <tandem/parallel_sort.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "runtime/fork/parallel_support.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::parallel_sort;
using tandem::task;
using tandem::test::broken_item;
using tandem::test::counted_number;
using tandem::test::test_runtime;

/// Inputs of `size` that are known to be hard for one quicksort or another; [1] is at random.
std::vector<std::vector<int>> patterns(int size) {
  std::mt19937 random(static_cast<unsigned>(size) + 1);
  std::vector<int> sorted(static_cast<std::size_t>(size));
  std::iota(sorted.begin(), sorted.end(), 0);
  std::vector<std::vector<int>> all(9, sorted);
  std::shuffle(all[1].begin(), all[1].end(), random);
  std::reverse(all[2].begin(), all[2].end());
  for (int& each : all[3]) each = 3;
  all[4] = all[1];
  for (int& each : all[4]) each %= 5;
  for (int& each : all[5]) each %= 100;                         // sawtooth
  for (int& each : all[6]) each = std::min(each, size - each);  // organ pipe
  std::shuffle(all[7].begin() + size / 8 * 7, all[7].end(), random);
  std::rotate(all[8].begin(), all[8].begin() + size / 3, all[8].end());
  return all;
}

void sorts_every_pattern(unsigned threads) {
  test_runtime rt(threads);
  rt.run([]() -> task<void> {
    for (const int size : {0, 1, 2, 3, 23, 24, 25, 63, 64, 129, 1000, 4097, 300'000}) {
      for (const std::vector<int>& pattern : patterns(size)) {
        std::vector<int> expected = pattern;
        std::sort(expected.begin(), expected.end());
        for (const std::size_t grain : {0U, 1U, 50U, 10'000U}) {
          if (grain == 1 && size > 100'000) continue;
          std::vector<int> values = pattern;
          co_await parallel_sort(values, std::less<>(), std::identity(), grain);
          EXPECT_TRUE(values == expected) << size << " by " << grain;
        }
        std::reverse(expected.begin(), expected.end());
        std::vector<int> values = pattern;
        co_await parallel_sort(values.begin(), values.end(), std::greater<>());
        EXPECT_TRUE(values == expected) << size << " downwards";
      }
    }
  }());
}
// A test for each: without optimisation all of them together come close to the limit of one.
TEST(parallel_sort, sorts_every_pattern_whatever_the_size_and_the_grain_on_one_worker) {
  sorts_every_pattern(1);
}
TEST(parallel_sort, sorts_every_pattern_whatever_the_size_and_the_grain_on_two_workers) {
  sorts_every_pattern(2);
}
TEST(parallel_sort, sorts_every_pattern_whatever_the_size_and_the_grain_on_four_workers) {
  sorts_every_pattern(4);
}

TEST(parallel_sort, sorts_what_is_costly_to_copy_by_a_projection) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    struct person {
      std::string name;
      int age = 0;
    };
    std::vector<person> people(20'000);
    for (std::size_t i = 0; i < people.size(); ++i) {
      people[i].age = static_cast<int>(i * 7919 % 20'011);
      people[i].name = std::to_string(people[i].age);
    }
    co_await parallel_sort(people, std::ranges::less(), &person::age, 100);
    for (std::size_t i = 1; i < people.size(); ++i) EXPECT_LE(people[i - 1].age, people[i].age);
    co_await parallel_sort(people, std::ranges::greater(), &person::name);
    for (std::size_t i = 1; i < people.size(); ++i) EXPECT_GE(people[i - 1].name, people[i].name);
    for (const person& each : people) EXPECT_EQ(each.name, std::to_string(each.age));
  }());
}

TEST(parallel_sort, sorts_move_only_elements_of_a_deque) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const std::size_t grain : {0U, 64U}) {
      std::deque<std::unique_ptr<int>> boxes;
      for (int i = 0; i < 30'000; ++i) boxes.push_back(std::make_unique<int>(i * 7919 % 30'011));
      co_await parallel_sort(
          boxes, std::less<>(), [](const std::unique_ptr<int>& box) { return *box; }, grain);
      for (std::size_t i = 1; i < boxes.size(); ++i) EXPECT_LT(*boxes[i - 1], *boxes[i]);
    }
  }());
}

TEST(parallel_sort, needs_some_n_log_n_comparisons_for_every_pattern) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    constexpr int size = 100'000;
    for (std::vector<int> values : patterns(size)) {
      std::atomic<long> count{0};
      co_await parallel_sort(
          values,
          [&](int a, int b) {
            count.fetch_add(1, std::memory_order_relaxed);
            return a < b;
          },
          std::identity(), 1000);
      EXPECT_LT(static_cast<double>(count.load()), 2.5 * size * std::log2(size));
      EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    }
  }());
}

// McIlroy, "A Killer Adversary for Quicksort" (1999): decides on values as it is asked about them.
TEST(parallel_sort, an_adversary_cannot_make_it_quadratic) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    for (const std::size_t grain : {500U, 1'000'000U}) {
      constexpr int size = 20'000;
      constexpr int gas = size;
      std::vector<int> value(size, gas);
      std::vector<int> items(size);
      std::iota(items.begin(), items.end(), 0);
      int solid = 0;
      int candidate = 0;
      long count = 0;
      co_await parallel_sort(
          items,
          [&](int a, int b) {
            ++count;
            auto& x = value[static_cast<std::size_t>(a)];
            auto& y = value[static_cast<std::size_t>(b)];
            if (x == gas && y == gas) (a == candidate ? x : y) = solid++;
            if (x == gas) {
              candidate = a;
            } else if (y == gas) {
              candidate = b;
            }
            return x < y;
          },
          std::identity(), grain);
      EXPECT_LT(static_cast<double>(count), 8.0 * size * std::log2(size));
    }
  }());
}

TEST(parallel_sort, a_throwing_comparison_loses_no_element) {
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.on_suppressed_exception = [](const std::exception_ptr&) {};
  test_runtime rt(options);
  rt.run([]() -> task<void> {
    for (const int size : {20, 100, 3000, 300'000}) {
      for (const std::vector<int>& pattern : patterns(size)) {
        for (const double share : {0.01, 0.3, 0.7}) {
          const long limit =
              static_cast<long>(share * static_cast<double>(size) * std::log2(size)) + 1;
          std::atomic<long> count{0};
          const auto throws = [&](long a, long b) {
            if (count.fetch_add(1, std::memory_order_relaxed) == limit) throw broken_item(limit);
            return a < b;
          };
          std::vector<int> expected = pattern;
          std::sort(expected.begin(), expected.end());
          std::vector<int> values = pattern;
          try {
            co_await parallel_sort(values, throws, std::identity(), 500);
          } catch (const broken_item&) {}
          std::sort(values.begin(), values.end());
          EXPECT_TRUE(values == expected) << size;
          if (size > 3000) break;
          std::deque<std::unique_ptr<int>> boxes;
          for (const int each : pattern) boxes.push_back(std::make_unique<int>(each));
          count = 0;
          try {
            co_await parallel_sort(
                boxes, throws, [](const std::unique_ptr<int>& box) { return *box; }, 50);
          } catch (const broken_item&) {}
          values.clear();
          for (const auto& box : boxes) values.push_back(*box);  // crashes if one was moved from
          std::sort(values.begin(), values.end());
          EXPECT_TRUE(values == expected) << size;
        }
      }
    }
  }());
}

TEST(parallel_sort, a_stop_ends_it_and_keeps_the_elements) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const std::size_t grain : {0U, 100U}) {
      std::vector<int> values = patterns(500'000)[1];
      std::vector<int> expected = values;
      std::sort(expected.begin(), expected.end());
      std::atomic<int> calls{0};
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        const auto stops = [&](int a, int b) {
          if (++calls == 200'000) scope.request_stop();
          return a < b;
        };
        EXPECT_THROW(co_await parallel_sort(values, stops, std::identity(), grain),
                     tandem::operation_cancelled);
      });
      EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
      std::sort(values.begin(), values.end());
      EXPECT_EQ(values, expected);
    }
  }());
}

TEST(parallel_sort, sorts_at_any_home) {
  test_runtime rt;
  tandem::test::lone_executor lone(*rt);
  tandem::sync_wait(lone, [](tandem::executor& home) -> task<void> {
    std::vector<int> values = patterns(200'000)[1];
    co_await parallel_sort(values, std::less<>(), std::identity(), 5000);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    EXPECT_TRUE(home.is_current());
  }(lone));
}

}  // namespace
