// stream_test.cpp: items, ends and failures of a stream, and who runs it where.
// SPDX-License-Identifier: MIT
#include <tandem/stream.hpp>

#include <memory>
#include <optional>
#include <tandem/resume_on.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/strand.hpp>
#include <tandem/when_all.hpp>

#include "runtime/stream/stream_support.hpp"
#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::elements_of;
using tandem::flow;
using tandem::for_each;
using tandem::stream;
using tandem::task;
using tandem::with_stream;
using tandem::test::by_virtual_time;
using tandem::test::count_to;
using tandem::test::ints;
using tandem::test::planned_failure;
using tandem::test::slowly_to;
using tandem::test::test_runtime;
namespace streams = tandem::streams;

task<ints> all_of(stream<int> made) { co_return co_await streams::collect(std::move(made)); }

TEST(stream, yields_items_in_order_whether_it_waits_or_not) {
  by_virtual_time([]() -> task<void> {
    const auto got1 = co_await all_of(count_to(3));
    EXPECT_EQ(got1, (ints{1, 2, 3}));
    EXPECT_EQ(co_await all_of(count_to(0)), ints());
    const auto got2 = co_await all_of(slowly_to(3, 1h));
    EXPECT_EQ(got2, (ints{1, 2, 3}));
  }());
}

TEST(stream, items_are_taken_by_plain_functions_and_by_tasks) {
  by_virtual_time([]() -> task<void> {
    int sum = 0;
    co_await for_each(count_to(4), [&](int i) { sum += i; });
    co_await for_each(count_to(4), [&](const int& i) -> task<void> {
      co_await tandem::sleep_for(1s);
      sum += i;
    });
    EXPECT_EQ(sum, 20);
  }());
}

TEST(stream, is_left_where_the_function_says_so) {
  by_virtual_time([]() -> task<void> {
    ints got;
    co_await for_each(count_to(9), [&](int i) {
      got.push_back(i);
      return i == 2 ? flow::leave : flow::go_on;
    });
    co_await for_each(count_to(9), [&](int i) -> task<flow> {
      got.push_back(i);
      co_return i == 1 ? flow::leave : flow::go_on;
    });
    EXPECT_EQ(got, (ints{1, 2, 1}));
  }());
}

stream<std::unique_ptr<int>> boxes(int n) {
  for (int i = 0; i < n; ++i) co_yield std::make_unique<int>(i);
}
stream<std::string&> references(std::vector<std::string>& all) {
  for (std::string& each : all) co_yield each;
}
stream<std::string> conversions() {
  co_yield "a literal";
  const std::string named = "an lvalue, which is too long to lie in the string itself";
  co_yield named;
  co_yield named;
}

TEST(stream, items_are_moved_referred_to_and_converted) {
  by_virtual_time([]() -> task<void> {
    auto got = co_await streams::collect(boxes(3));
    EXPECT_EQ(*got.at(2), 2);
    std::vector<std::string> all(2, "x");
    co_await for_each(references(all), [](std::string& each) { each += "y"; });
    EXPECT_EQ(all, (std::vector<std::string>{"xy", "xy"}));
    const auto made = co_await streams::collect(conversions());
    EXPECT_EQ(made.at(0), "a literal");
    EXPECT_EQ(made.at(1), made.at(2));
  }());
}

TEST(stream, items_are_taken_by_hand) {
  by_virtual_time([]() -> task<void> {
    const int sum = co_await with_stream(slowly_to(5, 1s), [](auto& items) -> task<int> {
      int so_far = 0;
      while (auto* const item = co_await items.next()) so_far += *item;
      EXPECT_TRUE(items.has_ended());
      EXPECT_EQ(co_await items.next(), nullptr);  // and goes on to be the end
      co_return so_far;
    });
    EXPECT_EQ(sum, 15);
  }());
}

TEST(stream, that_never_began_runs_nothing) {
  by_virtual_time([]() -> task<void> {
    bool begun = false;
    const auto make = [](bool& flag) -> stream<int> {
      flag = true;
      co_yield 1;
    };
    {
      auto dropped = make(begun) | streams::map([](int i) { return i; }) | streams::take(3);
    }
    co_await with_stream(make(begun), [](auto&) -> task<void> { co_return; });
    EXPECT_EQ(co_await (make(begun) | streams::take(0) | streams::collect()), ints());
    EXPECT_FALSE(begun);
  }());
}

stream<int> fails_after(int n) {
  for (int i = 1; i <= n; ++i) co_yield int(i);
  throw planned_failure();
}

TEST(stream, failures_come_to_whoever_asks_for_an_item) {
  EXPECT_EQ(0, by_virtual_time([]() -> task<void> {
              int sum = 0;
              EXPECT_THROW(co_await for_each(fails_after(3), [&](int i) { sum += i; }),
                           planned_failure);
              EXPECT_EQ(sum, 6);
              co_await with_stream(fails_after(0), [](auto& items) -> task<void> {
                EXPECT_THROW((void)co_await items.next(), planned_failure);
                EXPECT_EQ(co_await items.next(), nullptr);
              });
            }()));
}

stream<int> tree(int depth) {
  co_yield int(depth);
  if (depth == 0) co_return;
  co_await tandem::sleep_for(1ms);
  co_yield elements_of(tree(depth - 1));
  const ints two{-1, -2};
  co_yield elements_of(two);
  co_yield elements_of(streams::from(ints(1, -3)) | streams::map([](int i) { return i; }));
}
stream<int> catches() {
  bool has_failed = false;
  try {
    co_yield elements_of(fails_after(2));
  } catch (const planned_failure&) {
    has_failed = true;
  }
  if (has_failed) co_yield 100;
}

TEST(stream, yields_the_elements_of_others) {
  by_virtual_time([]() -> task<void> {
    const auto got3 = co_await all_of(tree(2));
    EXPECT_EQ(got3, (ints{2, 1, 0, -1, -2, -3, -1, -2, -3}));
    const auto got4 = co_await all_of(catches());
    EXPECT_EQ(got4, (ints{1, 2, 100}));
  }());
}

stream<int> chain(int depth, bool waits) {
  co_yield int(depth);
  if (depth > 0) co_yield elements_of(chain(depth - 1, waits));
  if (waits) co_await tandem::yield();
}
stream<int> stages(int depth) {
  auto made = count_to(3);
  for (int i = 0; i < depth; ++i)
    made = std::move(made) | streams::map([](int x) { return x + 1; });
  return made;
}

TEST(stream, depth_is_not_stack_depth) {
  by_virtual_time([]() -> task<void> {
    constexpr int deep = 50'000;
    EXPECT_EQ((co_await all_of(chain(deep, false))).size(), deep + 1U);
    EXPECT_EQ((co_await all_of(chain(deep, true))).size(), deep + 1U);
    const auto got5 = co_await all_of(chain(deep, false) | streams::take(2));
    EXPECT_EQ(got5, (ints{deep, deep - 1}));
    const auto got6 = co_await all_of(chain(deep, false) | streams::skip(deep));
    EXPECT_EQ(got6, (ints{0}));
    const auto got7 = co_await all_of(stages(5000));
    EXPECT_EQ(got7, (ints{5001, 5002, 5003}));
    const auto got8 = co_await all_of(stages(5000) | streams::take(1));
    EXPECT_EQ(got8, (ints{5001}));
    auto dropped = stages(50'000);
  }());
}

TEST(stream, of_ready_items_gives_way_and_hears_of_a_stop) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    bool other_ran = false;
    auto other = tandem::spawn([](bool& flag) -> task<void> {
      flag = true;
      co_return;
    }(other_ran));
    co_await for_each(count_to(1'000'000),
                      [&](int) { return other_ran ? flow::leave : flow::go_on; });
    EXPECT_TRUE(other_ran);
    co_await other;
    const auto ended = co_await tandem::as_result(
        tandem::with_timeout(0ms, for_each(count_to(2'000'000'000), [](int) {})));
    EXPECT_EQ(ended.reason(), tandem::stop_reason::deadline);
  }());
}

/// Where each item was made and taken.
struct places {
  std::vector<bool> made_at_home, taken_at_home;
};
stream<int> moves(tandem::executor& to, places& seen) {
  co_yield 1;
  co_await tandem::resume_on(to);
  for (int i = 2; i <= 3; ++i) {
    seen.made_at_home.push_back(to.is_current());
    co_yield int(i);
  }
}

TEST(stream, goes_on_where_it_has_moved_and_its_consumer_where_that_lives) {
  test_runtime rt(2);
  tandem::single_thread_executor own(*rt), other(*rt);
  rt.run([](tandem::executor& mine, tandem::executor& its) -> task<void> {
    co_await tandem::resume_on(mine);
    places seen;
    co_await for_each(moves(its, seen) | streams::map([](int i) { return i; }),
                      [&](int) { seen.taken_at_home.push_back(mine.is_current()); });
    EXPECT_EQ(seen.made_at_home, (std::vector<bool>{true, true}));
    EXPECT_EQ(seen.taken_at_home, (std::vector<bool>{true, true, true}));
    // One that has not moved follows its consumer.
    co_await with_stream(
        count_to(3) | streams::map([&](int i) { return its.is_current() ? -i : i; }),
        [&](auto& items) -> task<void> {
          EXPECT_EQ(*co_await items.next(), 1);
          co_await tandem::resume_on(its);
          EXPECT_EQ(*co_await items.next(), -2);
        });
    // Left, it cleans up where it lives.
    bool cleaned_at_home = false;
    co_await for_each(
        streams::finally(moves(its, seen), [&] { cleaned_at_home = mine.is_current(); }) |
            streams::take(2),
        [](int) {});
    EXPECT_TRUE(cleaned_at_home);
  }(own, other));
}

TEST(stream, works_on_a_strand) {
  test_runtime rt(2);
  tandem::strand line(rt.workers());
  rt.run([](tandem::executor& at) -> task<void> {
    co_await tandem::resume_on(at);
    int unguarded = 0;
    auto add = [&](int) -> task<void> {
      ++unguarded;
      co_await tandem::yield();
    };
    auto once = [&]() -> task<void> { co_await for_each(slowly_to(200, 0ms), add); };
    co_await tandem::when_all(once(), once(), once());
    EXPECT_EQ(unguarded, 600);
  }(line));
}

TEST(stream, limits_around_one_item_end_it) {
  by_virtual_time([]() -> task<void> {
    co_await with_stream(slowly_to(3, 10ms), [](auto& items) -> task<void> {
      EXPECT_EQ(*co_await tandem::with_timeout(20ms, items.next()), 1);
      const auto late = co_await tandem::as_result(tandem::with_timeout(5ms, items.next()));
      EXPECT_EQ(late.reason(), tandem::stop_reason::deadline);
      EXPECT_TRUE(items.has_ended());
    });
  }());
}

TEST(stream, allocates_nothing_for_an_item) {
  if (tandem::test::sanitized) GTEST_SKIP() << "a sanitizer counts its own allocations";
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    long before = 0, after = 0;
    co_await for_each(count_to(1000) | streams::map([](int i) { return i + 1; }) |
                          streams::filter([](int i) { return i % 2 == 0; }) | streams::timeout(1h) |
                          streams::skip(1),
                      [&](int i) {
                        if (i == 100) before = tandem::test::news();
                        if (i == 900) after = tandem::test::news();
                      });
    EXPECT_EQ(after - before, 0);
  }());
}

}  // namespace
