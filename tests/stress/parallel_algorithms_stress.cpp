// parallel_algorithms_stress.cpp: random sizes, grains and workers against the serial algorithms.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <tandem/parallel_for.hpp>
#include <tandem/parallel_reduce.hpp>
#include <tandem/parallel_scan.hpp>
#include <tandem/parallel_sort.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::task;
using tandem::test::stress;
using tandem::test::test_runtime;

using numbers = std::vector<std::uint64_t>;

/// Sizes of all magnitudes alike.
std::size_t some_size(std::mt19937_64& random) {
  const std::size_t limit = std::size_t{1} << (random() % 17);
  return random() % (limit + 1);
}
std::size_t some_grain(std::mt19937_64& random) {
  return random() % 2 == 0 ? 0 : 1 + some_size(random) / 8;
}
numbers some_numbers(std::mt19937_64& random) {
  numbers values(some_size(random));
  const std::uint64_t range = std::uint64_t{1} << (1 + random() % 63);
  for (auto& each : values) each = random() % range;
  return values;
}

/// Associative, does not commute: concatenation of digits to base 5 modulo 2^64, with the length.
struct digits {
  std::uint64_t value = 0;
  std::uint64_t weight = 1;
  friend bool operator==(const digits&, const digits&) = default;
};
digits joined(digits a, digits b) { return {a.value * b.weight + b.value, a.weight * b.weight}; }
digits digit(std::uint64_t x) { return {x % 5, 5}; }

task<void> visits_each_item_once(std::mt19937_64& random) {
  const std::size_t size = some_size(random);
  const std::size_t grain = some_grain(random);
  std::vector<std::atomic<int>> visits(size);
  if (random() % 4 != 0) {
    co_await tandem::parallel_for(std::size_t{0}, size, [&](std::size_t i) { ++visits[i]; }, grain);
  } else {
    const std::uint64_t mask = random() % 8;
    co_await tandem::parallel_for(
        std::size_t{0}, size,
        [&, mask](std::size_t i) -> task<void> {
          if ((i & mask) == mask) co_await tandem::yield();
          ++visits[i];
        },
        grain);
  }
  for (const auto& each : visits) EXPECT_EQ(each.load(), 1);
}

task<void> reduces_in_order(std::mt19937_64& random) {
  const numbers values = some_numbers(random);
  digits expected;
  for (const std::uint64_t each : values) expected = joined(expected, digit(each));
  EXPECT_EQ(co_await tandem::parallel_reduce(values, digits(), digit, joined, some_grain(random)),
            expected);
}

task<void> scans_like_the_serial_one(std::mt19937_64& random) {
  const numbers values = some_numbers(random);
  std::vector<digits> in(values.size());
  std::transform(values.begin(), values.end(), in.begin(), digit);
  std::vector<digits> expected(in.size());
  if (random() % 2 == 0) {
    std::inclusive_scan(in.begin(), in.end(), expected.begin(), joined);
    co_await tandem::parallel_inclusive_scan(in, in.begin(), joined, some_grain(random));
  } else {
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), digits(), joined);
    co_await tandem::parallel_exclusive_scan(in, in.begin(), digits(), joined, some_grain(random));
  }
  EXPECT_TRUE(in == expected);
}

task<void> sorts_like_the_serial_one(std::mt19937_64& random) {
  numbers values = some_numbers(random);
  if (random() % 4 == 0)
    std::sort(values.begin(), values.end() - static_cast<long>(values.size() / 9));
  numbers expected = values;
  std::sort(expected.begin(), expected.end());
  if (random() % 2 == 0) {
    co_await tandem::parallel_sort(values, std::less<>(), std::identity(), some_grain(random));
  } else {
    std::vector<std::unique_ptr<std::uint64_t>> boxes;
    for (const auto each : values) boxes.push_back(std::make_unique<std::uint64_t>(each));
    co_await tandem::parallel_sort(
        boxes, std::less<>(), [](const std::unique_ptr<std::uint64_t>& box) { return *box; },
        some_grain(random));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = *boxes[i];
  }
  EXPECT_TRUE(values == expected);
}

task<void> one_round(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0: co_await visits_each_item_once(random); break;
    case 1: co_await reduces_in_order(random); break;
    case 2: co_await scans_like_the_serial_one(random); break;
    default: co_await sorts_like_the_serial_one(random); break;
  }
}

TEST(parallel_algorithms, do_what_the_serial_ones_do) {
  test_runtime one(1);
  test_runtime two(2);
  test_runtime five(5);
  stress([&](std::mt19937_64& random) {
    test_runtime* const choices[] = {&one, &two, &five};
    choices[random() % 3]->run(one_round(random));
  });
}

TEST(parallel_algorithms, do_so_nested_in_each_other_and_side_by_side) {
  test_runtime rt(3);
  stress([&](std::mt19937_64& random) {
    const std::uint64_t seed = random();
    rt.run([](std::uint64_t first_seed) -> task<void> {
      co_await tandem::parallel_for(0, 8, [=](std::uint64_t i) -> task<void> {
        std::mt19937_64 own(first_seed + i);
        co_await one_round(own);
        co_await one_round(own);
      });
    }(seed));
  });
}

// Every body that began has ended when the caller goes on, and every exception has reached
// somebody.
TEST(parallel_algorithms, failures_and_stops_at_random_leave_nothing_running) {
  std::atomic<long> suppressed{0};
  tandem::runtime_options options = tandem::test::with_threads(3);
  options.on_suppressed_exception = [&](const std::exception_ptr&) { ++suppressed; };
  test_runtime rt(options);
  stress([&](std::mt19937_64& random) {
    const long before = suppressed.load();
    std::atomic<long> thrown{0};
    std::atomic<long> inside{0};
    long caught = 0;
    const std::uint64_t seed = random();
    rt.run([](std::uint64_t own_seed, std::atomic<long>& throws, std::atomic<long>& running,
              long& rethrown) -> task<void> {
      std::mt19937_64 own(own_seed);
      const std::size_t size = 1 + some_size(own) / 4;
      const std::size_t bad = own() % 3 == 0 ? 1 + own() % size : 1 + own() % 50;
      const std::size_t stop_at = own() % 3 == 0 ? own() % size : size;
      const std::size_t grain = some_grain(own);
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        const auto inner = [&](std::size_t i) -> task<void> {
          ++running;
          struct leave {
            explicit leave(std::atomic<long>& n) : count(n) {}
            ~leave() { --count; }
            std::atomic<long>& count;
          };
          const leave guard(running);
          if (i == stop_at) scope.request_stop();
          if (i % 3 == 0) co_await tandem::yield();
          if (i % bad == bad - 1) {
            ++throws;
            throw std::runtime_error("item");
          }
        };
        try {
          co_await tandem::parallel_for(std::size_t{0}, size, inner, grain);
        } catch (const std::runtime_error& e) {
          if (dynamic_cast<const tandem::operation_cancelled*>(&e) == nullptr) ++rethrown;
        }
      });
    }(seed, thrown, inside, caught));
    ASSERT_EQ(inside.load(), 0);
    ASSERT_EQ(thrown.load(), caught + suppressed.load() - before);
  });
}

}  // namespace
