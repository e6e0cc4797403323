// stream_stages_test.cpp: what each stage of a chain of streams does to the items.
// SPDX-License-Identifier: MIT
#include <functional>
#include <memory>
#include <tandem/as_result.hpp>
#include <tandem/spawn.hpp>
#include <tandem/when_all.hpp>

#include "runtime/stream/stream_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::for_each;
using tandem::stream;
using tandem::task;
using tandem::test::by_virtual_time;
using tandem::test::count_to;
using tandem::test::ints;
using tandem::test::planned_failure;
using tandem::test::slowly_to;
namespace streams = tandem::streams;

TEST(stages, map_filter_take_skip) {
  by_virtual_time([]() -> task<void> {
    const auto got1 = co_await (count_to(9) | streams::map([](int i) { return i * 2; }) |
                                streams::filter([](int i) { return i % 3 != 0; }) |
                                streams::skip(1) | streams::take(3) | streams::collect());
    EXPECT_EQ(got1, (ints{4, 8, 10}));
    const auto got2 =
        co_await streams::collect(streams::take_while(count_to(9), [](int i) { return i < 3; }));
    EXPECT_EQ(got2, (ints{1, 2}));
    EXPECT_EQ(co_await (count_to(2) | streams::skip(5) | streams::collect()), ints());
  }());
}

TEST(stages, functions_may_be_tasks) {
  by_virtual_time([]() -> task<void> {
    const auto slow = [](auto value) -> task<decltype(value)> {
      co_await tandem::sleep_for(1s);
      co_return value;
    };
    EXPECT_EQ(co_await (count_to(6) | streams::map([&](int i) { return slow(i + 1); }) |
                        streams::filter([&](int i) { return slow(i % 2 == 0); }) |
                        streams::take_while([&](int i) { return slow(i < 6); }) |
                        streams::fold(0, [&](int sum, int i) { return slow(sum + i); })),
              2 + 4);
  }());
}

TEST(stages, references_are_passed_on_and_values_moved) {
  by_virtual_time([]() -> task<void> {
    std::vector<std::string> all{"a", "b", "c"};
    co_await for_each(streams::from(all) | streams::filter([](auto& s) { return s != "b"; }) |
                          streams::map([](std::string& s) -> std::string& { return s; }),
                      [](std::string& s) { s += "!"; });
    EXPECT_EQ(all, (std::vector<std::string>{"a!", "b", "c!"}));
    const auto boxes = [](int n) -> stream<std::unique_ptr<int>> {
      for (int i = 0; i < n; ++i) co_yield std::make_unique<int>(i);
    };
    auto got = co_await (boxes(3) | streams::filter([](auto& box) { return *box != 1; }) |
                         streams::map([](std::unique_ptr<int> box) { return box; }) |
                         streams::chunks(2) | streams::collect());
    EXPECT_EQ(*got.at(0).at(1), 2);
  }());
}

TEST(stages, chunks_by_number) {
  by_virtual_time([]() -> task<void> {
    const auto got3 = co_await (count_to(5) | streams::chunks(2) | streams::collect());
    EXPECT_EQ(got3, (std::vector<ints>{{1, 2}, {3, 4}, {5}}));
    const auto got4 = co_await (count_to(4) | streams::chunks(2) | streams::collect());
    EXPECT_EQ(got4, (std::vector<ints>{{1, 2}, {3, 4}}));
    EXPECT_THROW((void)streams::chunks(count_to(1), 0), std::invalid_argument);
    // What came before a failure comes first.
    std::vector<ints> got;
    const auto fails = []() -> stream<int> {
      co_yield 1;
      throw planned_failure();
    };
    EXPECT_THROW(co_await for_each(fails() | streams::chunks(2),
                                   [&](ints chunk) { got.push_back(std::move(chunk)); }),
                 planned_failure);
    EXPECT_EQ(got, (std::vector<ints>{{1}}));
  }());
}

TEST(stages, chunks_by_time_stop_nothing) {
  by_virtual_time([]() -> task<void> {
    const auto got5 = co_await (slowly_to(7, 10ms) | streams::chunks(3, 15ms) | streams::collect());
    EXPECT_EQ(got5, (std::vector<ints>{{1, 2}, {3, 4}, {5, 6}, {7}}));
    const auto got6 = co_await (slowly_to(7, 10ms) | streams::chunks(3, 1h) | streams::collect());
    EXPECT_EQ(got6, (std::vector<ints>{{1, 2, 3}, {4, 5, 6}, {7}}));
  }());
}

TEST(stages, flat_map_of_streams_and_ranges) {
  by_virtual_time([]() -> task<void> {
    const auto got7 =
        co_await (count_to(3) | streams::flat_map([](int i) { return slowly_to(i, 1s); }) |
                  streams::collect());
    EXPECT_EQ(got7, (ints{1, 1, 2, 1, 2, 3}));
    const auto got8 = co_await (count_to(3) | streams::flat_map([](int i) -> task<ints> {
                                  co_return ints(static_cast<std::size_t>(i - 1), i);
                                }) |
                                streams::collect());
    EXPECT_EQ(got8, (ints{2, 3, 3}));
  }());
}

TEST(stages, zip_ends_with_the_shorter_one) {
  by_virtual_time([]() -> task<void> {
    const std::vector<std::string> names{"a", "b", "c"};
    std::string got;
    co_await for_each(streams::zip(slowly_to(2, 1s), streams::from(names)),
                      [&](const auto& both) { got += both.second + std::to_string(both.first); });
    co_await for_each(streams::zip(streams::from(names), slowly_to(1, 1s)),
                      [&](const auto& both) { got += both.first; });
    EXPECT_EQ(got, "a1b2a");
  }());
}

TEST(stages, an_item_that_takes_too_long_ends_the_stream) {
  by_virtual_time([]() -> task<void> {
    const auto got9 = co_await (slowly_to(3, 10ms) | streams::timeout(11ms) | streams::collect());
    EXPECT_EQ(got9, (ints{1, 2, 3}));
    // The consumer's own time does not count.
    int taken = 0;
    co_await for_each(slowly_to(3, 10ms) | streams::timeout(11ms), [&](int) -> task<void> {
      ++taken;
      co_await tandem::sleep_for(1h);
    });
    EXPECT_EQ(taken, 3);
    const auto late =
        co_await tandem::as_result(slowly_to(3, 10ms) | streams::timeout(9ms) | streams::collect());
    EXPECT_EQ(late.reason(), tandem::stop_reason::deadline);
    const auto none =
        co_await tandem::as_result(count_to(3) | streams::timeout(0ms) |
                                   streams::map([](int i) { return i; }) | streams::collect());
    EXPECT_TRUE(none.has_value());  // one that does not wait is not stopped
  }());
}

TEST(stages, sources) {
  by_virtual_time([]() -> task<void> {
    tandem::channel<int> numbers(1);
    auto fill = [](tandem::channel<int>& into) -> task<void> {
      for (int i = 1; i <= 4; ++i) co_await into.send(int(i));
      into.close();
    };
    auto [got, filled] = co_await tandem::when_all(
        streams::from(numbers) | streams::take(3) | streams::collect(), fill(numbers));
    EXPECT_EQ(got, (ints{1, 2, 3}));
    EXPECT_EQ(co_await numbers.receive(), 4);  // what was left is still there
    const auto start = tandem::now();
    const auto ticks = co_await (streams::ticks(10ms) | streams::take(2) | streams::collect());
    EXPECT_EQ(ticks.at(1) - start, 20ms);
    const auto got10 = co_await (streams::from(std::views::iota(1, 4)) | streams::collect());
    EXPECT_EQ(got10, (ints{1, 2, 3}));
    ints both{1, 2};
    const auto got11 = co_await (streams::from(std::move(both)) | streams::map(std::negate<>()) |
                                 streams::collect());
    EXPECT_EQ(got11, (ints{-1, -2}));
    EXPECT_THROW(co_await (streams::ticks(0ms) | streams::collect()), std::invalid_argument);
  }());
}

TEST(stages, a_callback_stream_is_a_source) {
  by_virtual_time([]() -> task<void> {
    const auto subscribe = [](auto on_value) {
      for (int i = 1; i <= 3; ++i) on_value(int(i));
    };
    const auto got = co_await tandem::with_callbacks(
        tandem::callback_stream<int>(8, tandem::overflow_policy::fail, subscribe),
        [](auto& values) -> task<ints> { return streams::collect(streams::from(values)); });
    EXPECT_EQ(got, (ints{1, 2, 3}));
  }());
}

TEST(stages, a_stage_may_be_kept_and_used_twice) {
  by_virtual_time([]() -> task<void> {
    const auto doubled = streams::map([](int i) { return 2 * i; });
    const auto got12 = co_await (count_to(2) | doubled | doubled | streams::collect());
    EXPECT_EQ(got12, (ints{4, 8}));
  }());
}

TEST(stages, a_failing_function_ends_the_stream_and_leaves_the_source) {
  by_virtual_time([]() -> task<void> {
    bool closed = false;
    EXPECT_THROW(
        co_await (count_to(5) | streams::finally([&] { closed = true; }) | streams::map([](int i) {
                    if (i == 3) throw planned_failure();
                    return i;
                  }) |
                  streams::filter([](int) { return true; }) | streams::collect()),
        planned_failure);
    EXPECT_TRUE(closed);
  }());
}

}  // namespace
