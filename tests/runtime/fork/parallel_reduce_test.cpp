// parallel_reduce_test.cpp: order, results by value, failures and stops of parallel_reduce.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <tandem/parallel_reduce.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "runtime/fork/parallel_support.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::parallel_reduce;
using tandem::task;
using tandem::test::broken_item;
using tandem::test::counted_number;
using tandem::test::test_runtime;

std::string joined(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += std::to_string(i) + ' ';
  return all;
}

TEST(parallel_reduce, keeps_the_order_of_an_operation_that_does_not_commute) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    test_runtime rt(threads);
    rt.run([]() -> task<void> {
      for (const int size : {0, 1, 2, 3, 31, 32, 33, 500, 20'000}) {
        for (const std::size_t grain : {0U, 1U, 13U, 100'000U}) {
          const std::string text = co_await parallel_reduce(
              0, size, std::string(), [](int i) { return std::to_string(i) + ' '; }, std::plus<>(),
              grain);
          EXPECT_EQ(text, joined(size)) << size << " by " << grain;
        }
      }
    }());
  }
}

TEST(parallel_reduce, an_empty_range_yields_the_identity) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const std::vector<int> none;
    EXPECT_EQ(co_await parallel_reduce(none, 42L, std::identity(), std::plus<>()), 42L);
    auto box = co_await parallel_reduce(
        3, 3, std::make_unique<int>(5), [](int i) { return std::make_unique<int>(i); },
        [](std::unique_ptr<int> a, std::unique_ptr<int>) { return a; });
    EXPECT_EQ(*box, 5);
  }());
}

TEST(parallel_reduce, sums_may_be_move_only) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const std::size_t grain : {0U, 1U, 50U}) {
      auto sum = co_await parallel_reduce(
          0, 5000, std::unique_ptr<long>(), [](long i) { return std::make_unique<long>(i); },
          [](std::unique_ptr<long> a, std::unique_ptr<long> b) {
            *a += *b;
            return a;
          },
          grain);
      EXPECT_EQ(*sum, 4999L * 5000 / 2);
    }
  }());
}

TEST(parallel_reduce, with_a_grain_the_grouping_depends_on_nothing_else) {
  std::vector<double> numbers(100'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1.0 / static_cast<double>(i + 1);
  std::vector<double> sums;
  for (const unsigned threads : {1U, 2U, 3U, 4U}) {
    test_runtime rt(threads);
    for (int round = 0; round < 5; ++round) {
      sums.push_back(rt.run([](const std::vector<double>& all) -> task<double> {
        co_return co_await parallel_reduce(all, 0.0, std::identity(), std::plus<>(), 777);
      }(numbers)));
    }
  }
  EXPECT_EQ(sums, std::vector<double>(sums.size(), sums.front()));
}

TEST(parallel_reduce, a_transform_may_take_pieces_or_suspend) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::deque<int> numbers(30'000);
    std::iota(numbers.begin(), numbers.end(), 0);
    const long sum = 29'999L * 30'000 / 2;
    EXPECT_EQ(
        co_await parallel_reduce(
            numbers, 0L, [](auto first, auto last) { return std::accumulate(first, last, 0L); },
            std::plus<>()),
        sum);
    EXPECT_EQ(co_await parallel_reduce(
                  numbers.begin(), numbers.end(), 0L,
                  [](int x) -> task<long> {
                    if (x % 5 == 0) co_await tandem::yield();
                    co_return x;
                  },
                  std::plus<>(), 100),
              sum);
    const std::string text = co_await parallel_reduce(
        0, 300, std::string(),
        [](int i) -> task<std::string> {
          co_await tandem::yield();
          co_return std::to_string(i) + ' ';
        },
        std::plus<>());
    EXPECT_EQ(text, joined(300));
  }());
}

TEST(parallel_reduce, a_failure_leaves_no_partial_sum_behind) {
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.on_suppressed_exception = [](const std::exception_ptr&) {};
  test_runtime rt(options);
  rt.run([]() -> task<void> {
    for (const std::size_t grain : {0U, 1U, 64U}) {
      for (const bool in_combine : {false, true}) {
        std::atomic<int> calls{0};
        EXPECT_THROW(co_await parallel_reduce(
                         0, 20'000, counted_number(),
                         [&](int i) {
                           if (!in_combine && i == 15'000) throw broken_item(i);
                           return counted_number(i);
                         },
                         [&](counted_number a, counted_number b) {
                           if (in_combine && ++calls == 9000) throw broken_item(0);
                           return counted_number(a.value + b.value);
                         },
                         grain),
                     broken_item);
        EXPECT_EQ(counted_number::alive.load(), 0);
      }
    }
  }());
}

TEST(parallel_reduce, a_stop_throws_and_leaves_nothing_behind) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const std::size_t grain : {0U, 1U, 64U}) {
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        std::atomic<int> calls{0};
        EXPECT_THROW(co_await parallel_reduce(
                         0, 5'000'000, counted_number(),
                         [&](int i) {
                           if (++calls == 2000) scope.request_stop();
                           return counted_number(i);
                         },
                         [](counted_number a, counted_number b) {
                           return counted_number(a.value + b.value);
                         },
                         grain),
                     tandem::operation_cancelled);
        EXPECT_EQ(counted_number::alive.load(), 0);
      });
    }
  }());
}

}  // namespace
