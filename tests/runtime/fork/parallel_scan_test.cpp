// parallel_scan_test.cpp: running sums, in order, in place, on any number of workers.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <numeric>
#include <string>
#include <tandem/parallel_scan.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "runtime/fork/parallel_support.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::parallel_exclusive_scan;
using tandem::parallel_inclusive_scan;
using tandem::task;
using tandem::test::broken_item;
using tandem::test::counted_number;
using tandem::test::test_runtime;

/// x -> a * x + b, modulo 2^64: composing two of them is associative and does not commute.
struct affine {
  std::uint64_t a = 1;
  std::uint64_t b = 0;
  friend bool operator==(const affine&, const affine&) = default;
};
affine then(const affine& first, const affine& second) {
  return {first.a * second.a, second.a * first.b + second.b};
}

std::vector<affine> some_maps(std::size_t size) {
  std::vector<affine> maps(size);
  for (std::size_t i = 0; i < size; ++i) maps[i] = {2 * i + 3, i * i + 1};
  return maps;
}

TEST(parallel_scan, equals_the_serial_scan_whatever_the_size_and_the_grain) {
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    test_runtime rt(threads);
    rt.run([]() -> task<void> {
      for (const std::size_t size : {0U, 1U, 2U, 3U, 31U, 40U, 1000U, 200'003U}) {
        const std::vector<affine> maps = some_maps(size);
        std::vector<affine> inclusive(size);
        std::inclusive_scan(maps.begin(), maps.end(), inclusive.begin(), then);
        std::vector<affine> exclusive(size);
        std::exclusive_scan(maps.begin(), maps.end(), exclusive.begin(), affine{5, 6}, then);
        for (const std::size_t grain : {0U, 1U, 10U, 5000U, 1'000'000U}) {
          if (grain == 1 && size > 10'000) continue;
          std::vector<affine> out(size);
          const auto end =
              co_await parallel_inclusive_scan(maps.begin(), maps.end(), out.begin(), then, grain);
          EXPECT_TRUE(end == out.end());
          EXPECT_TRUE(out == inclusive) << size << " by " << grain;
          co_await parallel_exclusive_scan(maps, out.begin(), affine{5, 6}, then, grain);
          EXPECT_TRUE(out == exclusive) << size << " by " << grain;
        }
      }
    }());
  }
}

TEST(parallel_scan, works_in_place_and_on_iterators_that_are_no_pointers) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const std::size_t grain : {0U, 100U}) {
      std::deque<long> numbers(50'000);
      std::iota(numbers.begin(), numbers.end(), 1);
      std::deque<long> sums(numbers.size());
      std::inclusive_scan(numbers.begin(), numbers.end(), sums.begin());
      std::deque<long> same = numbers;
      co_await parallel_inclusive_scan(same, same.begin(), std::plus<>(), grain);
      EXPECT_EQ(same, sums);
      std::exclusive_scan(numbers.begin(), numbers.end(), sums.begin(), 9L);
      co_await parallel_exclusive_scan(numbers, numbers.begin(), 9L, std::plus<>(), grain);
      EXPECT_EQ(numbers, sums);
    }
  }());
}

TEST(parallel_scan, sums_may_own_memory) {
  test_runtime rt(3);
  rt.run([]() -> task<void> {
    std::vector<std::string> words(400);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = std::to_string(i);
    std::vector<std::string> expected(words.size());
    std::inclusive_scan(words.begin(), words.end(), expected.begin());
    for (const std::size_t grain : {0U, 1U, 7U}) {
      std::vector<std::string> texts(words.size());
      co_await parallel_inclusive_scan(words, texts.begin(), std::plus<>(), grain);
      EXPECT_EQ(texts, expected);
    }
  }());
}

TEST(parallel_scan, a_lone_worker_reads_each_item_once) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    const std::vector<int> numbers(100'000, 1);
    std::vector<int> out(numbers.size());
    long calls = 0;
    co_await parallel_inclusive_scan(
        numbers, out.begin(),
        [&](int a, int b) {
          ++calls;
          return a + b;
        },
        100);
    EXPECT_EQ(calls, 99'999);
  }());
}

TEST(parallel_scan, p_workers_make_at_most_one_pass_and_p_minus_1_pths_of_a_second) {
  for (const long threads : {2L, 3L, 4L}) {
    test_runtime rt(static_cast<unsigned>(threads));
    for (int round = 0; round < 20; ++round) {
      rt.run([](long workers) -> task<void> {
        constexpr long size = 200'000;
        constexpr long tile = 500;
        const std::vector<int> numbers(size, 1);
        std::vector<int> out(numbers.size());
        std::atomic<long> calls{0};
        co_await parallel_inclusive_scan(
            numbers, out.begin(),
            [&](int a, int b) {
              calls.fetch_add(1, std::memory_order_relaxed);
              return a + b;
            },
            tile);
        EXPECT_EQ(out.back(), size);
        // Shares are whole tiles: some slack for rounding them up.
        EXPECT_LE(calls.load(), size + size * (workers - 1) / workers + 20 * tile);
      }(threads));
    }
  }
}

TEST(parallel_scan, failures_and_stops_leave_nothing_behind) {
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.on_suppressed_exception = [](const std::exception_ptr&) {};
  test_runtime rt(options);
  rt.run([]() -> task<void> {
    for (const std::size_t grain : {0U, 1U, 64U}) {
      {
        std::vector<counted_number> numbers(20'000, counted_number(1));
        std::atomic<int> calls{0};
        const auto fails = [&](const counted_number& a, const counted_number& b) {
          if (++calls == 15'000) throw broken_item(0);
          return counted_number(a.value + b.value);
        };
        EXPECT_THROW(co_await parallel_inclusive_scan(numbers, numbers.begin(), fails, grain),
                     broken_item);
        EXPECT_EQ(counted_number::alive.load(), 20'000);
        co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
          calls = 0;
          const auto stops = [&](const counted_number& a, const counted_number& b) {
            if (++calls == 10'000) scope.request_stop();
            return counted_number(a.value + b.value);
          };
          std::vector<counted_number> more(2'000'000, counted_number(1));
          EXPECT_THROW(
              co_await parallel_exclusive_scan(more, more.begin(), counted_number(), stops, grain),
              tandem::operation_cancelled);
        });
      }
      EXPECT_EQ(counted_number::alive.load(), 0);
    }
  }());
}

TEST(parallel_scan, runs_at_any_home) {
  test_runtime rt;
  tandem::test::lone_executor lone(*rt);
  tandem::sync_wait(lone, [](tandem::executor& home) -> task<void> {
    std::vector<int> numbers(100'000, 1);
    co_await parallel_inclusive_scan(numbers, numbers.begin());
    EXPECT_EQ(numbers.back(), 100'000);
    EXPECT_TRUE(home.is_current());
  }(lone));
}

}  // namespace
