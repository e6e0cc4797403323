// when_each_test.cpp: outcomes come as they come; leaving stops and awaits the rest.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/streams.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_each.hpp>
#include <vector>

#include "recording_runtime.hpp"
#include "runtime/combine/timed_children.hpp"
#include "runtime/sync/virtual_support.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::flow;
using tandem::for_each;
using tandem::task;
using tandem::when_each;
using tandem::when_each_item;
using tandem::when_each_options;
using tandem::test::fails;
using tandem::test::late;
using tandem::test::on_virtual_clock;
using tandem::test::recording_runtime;
using tandem::test::test_runtime;

TEST(when_each, outcomes_come_in_the_order_of_their_ends_and_say_whose_they_are) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    std::vector<std::pair<std::size_t, int>> got;
    const auto begun = tandem::now();
    co_await for_each(
        when_each(late(10, 3ms), late(11, 1ms), late(12, 2ms)),
        [&](when_each_item<int> ended) { got.emplace_back(ended.index, ended.outcome.value()); });
    EXPECT_EQ(got, (std::vector<std::pair<std::size_t, int>>{{1, 11}, {2, 12}, {0, 10}}));
    EXPECT_EQ(tandem::now() - begun, 3ms);
  }());
}

TEST(when_each, a_failure_is_an_item_and_stops_nobody) {
  recording_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    std::vector<std::string> got;
    std::vector<task<int>> all;
    all.push_back(fails(1ms, "broken"));
    all.push_back(late(2, 2ms));
    co_await for_each(when_each(std::move(all)), [&](const when_each_item<int>& ended) {
      try {
        got.push_back(std::to_string(ended.outcome.value()));
      } catch (const std::runtime_error& e) {
        got.emplace_back(e.what());
      }
    });
    EXPECT_EQ(got, (std::vector<std::string>{"broken", "2"}));
  }());
  EXPECT_EQ(rt.suppressed(), std::vector<std::string>());
}

TEST(when_each, leaving_early_stops_the_rest_and_awaits_its_end) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::atomic<int> ended{0};
    const auto lingers = [&ended]() -> task<int> {
      (void)co_await tandem::as_result(tandem::sleep_for(10h));
      ++ended;
      co_return 1;
    };
    co_await for_each(when_each(lingers(), late(2, 10us), lingers()),
                      [](const when_each_item<int>&) { return flow::leave; });
    EXPECT_EQ(ended, 2);
  }());
}

TEST(when_each, a_failure_that_nobody_has_seen_is_reported_and_one_that_was_seen_is_not) {
  recording_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    co_await for_each(when_each(fails(1ms, "seen"), fails(1ms, "unseen"), late(1, 10h)),
                      [](const when_each_item<int>&) -> task<flow> {
                        co_await tandem::sleep_for(1ms);
                        co_return flow::leave;
                      });
  }());
  ASSERT_EQ(rt.suppressed().size(), 1U);  // either: both end at the same time
}

TEST(when_each, so_many_run_at_once_and_those_that_have_not_begun_never_do) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    int running = 0;
    int most = 0;
    int begun = 0;
    const auto counts = [&](int n) -> task<int> {
      most = std::max(most, ++running);
      ++begun;
      co_await tandem::sleep_for(1ms);
      --running;
      co_return n;
    };
    const auto children = std::views::iota(0, 10) | std::views::transform(counts);
    int sum = 0;
    co_await for_each(when_each(children, when_each_options().at_once(3)),
                      [&](const when_each_item<int>& e) { sum += e.outcome.value(); });
    EXPECT_EQ(sum, 45);
    EXPECT_EQ(most, 3);
    begun = 0;
    co_await for_each(when_each(children, when_each_options().at_once(2)),
                      [&](const when_each_item<int>&) { return flow::leave; });
    EXPECT_EQ(begun, 2);
  }());
  EXPECT_THROW(when_each_options().at_once(0), std::invalid_argument);
}

TEST(when_each, a_stop_of_the_consumer_reaches_the_children_and_nothing_of_none_ends_at_once) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    bool stopped = false;
    const auto lingers = [&stopped]() -> task<int> {
      stopped = (co_await tandem::as_result(tandem::sleep_for(10h))).is_cancelled();
      co_return 1;
    };
    const auto count = [](const when_each_item<int>&) { ADD_FAILURE() << "an item"; };
    const auto got = co_await tandem::as_result(
        tandem::with_timeout(1ms, for_each(when_each(lingers()), count)));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_TRUE(stopped);
    co_await for_each(when_each(std::vector<task<int>>()), count);
  }());
}

TEST(when_each, is_a_stream_as_any_other_and_takes_what_is_no_task) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto own = [](int n) -> task<std::unique_ptr<int>> {
      co_return std::make_unique<int>(n);
    };
    auto values = tandem::streams::map(
        when_each(own(1), own(2)),
        [](when_each_item<std::unique_ptr<int>> e) { return *std::move(e.outcome).value(); });
    EXPECT_EQ(co_await tandem::streams::fold(std::move(values), 0, std::plus<>()), 3);
    int slept = 0;
    co_await for_each(when_each(tandem::sleep_for(1us), tandem::sleep_for(2us)),
                      [&](const when_each_item<void>& e) { slept += e.outcome ? 1 : 0; });
    EXPECT_EQ(slept, 2);
    { [[maybe_unused]] const auto dropped = when_each(own(1)); }
  }());
}

}  // namespace
