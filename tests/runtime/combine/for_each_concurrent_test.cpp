// for_each_concurrent_test.cpp: every item once, never more than the limit at once.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/for_each_concurrent.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "recording_runtime.hpp"
#include "simulated.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::for_each_concurrent;
using tandem::task;
using tandem::test::recording_runtime;
using tandem::test::simulated;
using tandem::test::test_runtime;

TEST(for_each_concurrent, takes_every_item_once_and_keeps_the_limit) {
  for (const std::size_t limit : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
    test_runtime rt(4);
    std::vector<std::atomic<int>> seen(200);
    std::atomic<int> now{0};
    std::atomic<int> most{0};
    rt.run([](auto& counts, auto& running, auto& peak, std::size_t n) -> task<void> {
      co_await for_each_concurrent(std::views::iota(0, 200), n, [&](int i) -> task<void> {
        const int with_me = ++running;
        int before = peak.load();
        while (before < with_me && !peak.compare_exchange_weak(before, with_me)) {}
        if (i % 2 == 0) co_await tandem::yield();
        if (i % 5 == 0) co_await tandem::sleep_for(20us);
        ++counts[static_cast<std::size_t>(i)];
        --running;
      });
    }(seen, now, most, limit));
    for (const auto& count : seen) EXPECT_EQ(count.load(), 1);
    EXPECT_LE(most.load(), static_cast<int>(limit));
  }
}

TEST(for_each_concurrent, lvalue_ranges_are_referred_to_and_temporaries_kept) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::list<std::string> words{"a", "bb", "ccc"};
    co_await for_each_concurrent(words, 2, [](std::string& word) -> task<void> {
      co_await tandem::yield();
      word += '!';
    });
    EXPECT_EQ(words, (std::list<std::string>{"a!", "bb!", "ccc!"}));
    std::atomic<std::size_t> letters{0};
    const auto count = [&letters](const std::string& word) -> task<void> {
      co_await tandem::yield();
      letters += word.size();
    };
    const auto make = [] { return std::vector<std::string>({"one", "three"}); };
    co_await for_each_concurrent(make(), 8, count);
    EXPECT_EQ(letters.load(), 8U);
  }());
}

TEST(for_each_concurrent, an_input_range_is_taken_from_lazily_and_its_items_are_kept) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::istringstream text("1 2 3 4 5 6 7 8 9 10");
    std::atomic<int> sum{0};
    co_await for_each_concurrent(std::views::istream<int>(text), 3,
                                 [&sum](const int& n) -> task<void> {
                                   co_await tandem::yield();
                                   sum += n;
                                 });
    EXPECT_EQ(sum.load(), 55);
  }());
}

/// An endless range, whose item 20 fails. How many have begun until that is heard of.
task<int> until_item_20_fails() {
  std::atomic<int> begun{0};
  auto got = co_await tandem::as_result(
      for_each_concurrent(std::views::iota(0), 4, [&begun](int i) -> task<void> {
        ++begun;
        co_await tandem::yield();
        if (i == 20) throw std::runtime_error("enough");
      }));
  EXPECT_THROW(got.value(), std::runtime_error);
  co_return begun.load();
}

TEST(for_each_concurrent, an_endless_range_ends_by_a_failure) {
  test_runtime rt;
  EXPECT_GT(rt.run(until_item_20_fails()), 20);
  // How soon: where threads meet, the one that is about to fail may get no CPU for any time.
  for (unsigned seed = 1; seed <= 100; ++seed) {
    EXPECT_LT(tandem::run(until_item_20_fails(), simulated(seed, 2)), 100) << "seed " << seed;
  }
}

TEST(for_each_concurrent, move_only_items_are_handed_over) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto boxes = std::views::iota(1, 5) |
                       std::views::transform([](int i) { return std::make_unique<int>(i); });
    std::atomic<int> sum{0};
    co_await for_each_concurrent(boxes, 2, [&sum](std::unique_ptr<int> box) -> task<void> {
      co_await tandem::yield();
      sum += *box;
    });
    EXPECT_EQ(sum.load(), 10);
  }());
}

TEST(for_each_concurrent, of_nothing_does_nothing_and_a_limit_of_nothing_is_refused) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto never = [](int) -> task<void> {
      ADD_FAILURE() << "called";
      co_return;
    };
    const std::vector<int> none;
    co_await for_each_concurrent(none, 3, never);
    EXPECT_THROW((void)for_each_concurrent(none, 0, never), std::invalid_argument);
  }());
}

TEST(for_each_concurrent, the_first_failure_stops_what_has_begun_and_nothing_else_begins) {
  recording_runtime rt(1);
  int begun = 0;
  try {
    rt.run([](int& count) -> task<void> {
      co_await for_each_concurrent(std::views::iota(0, 100), 3, [&count](int i) -> task<void> {
        ++count;
        if (i == 1) throw std::runtime_error("item 1");
        co_await tandem::sleep_for(10h);
      });
    }(begun));
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "item 1");
  }
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(rt.suppressed(), std::vector<std::string>());
}

TEST(for_each_concurrent, a_stop_of_the_caller_reaches_what_has_begun) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::atomic<int> begun{0};
    const auto got = co_await tandem::as_result(tandem::with_timeout(
        1ms, for_each_concurrent(std::views::iota(0, 100), 5, [&begun](int) -> task<void> {
          ++begun;
          co_await tandem::sleep_for(10h);
        })));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_LE(begun.load(), 5);
  }());
}

TEST(for_each_concurrent, a_range_that_throws_is_a_failure_and_at_its_end) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto items = std::views::iota(0, 50) | std::views::transform([](int i) {
                         if (i == 10) throw std::out_of_range("item 10");
                         return i;
                       });
    std::atomic<int> begun{0};
    auto got =
        co_await tandem::as_result(for_each_concurrent(items, 4, [&begun](int) -> task<void> {
          ++begun;
          co_await tandem::yield();
        }));
    EXPECT_THROW(got.value(), std::out_of_range);
    EXPECT_EQ(begun.load(), 10);
  }());
}

}  // namespace
