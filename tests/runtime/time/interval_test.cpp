// interval_test.cpp: ticks on a grid, by the virtual clock.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <tandem/as_result.hpp>
#include <tandem/interval.hpp>
#include <tandem/run.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using tandem::interval;
using tandem::missed_ticks;
using tandem::task;
using times = std::vector<milliseconds>;

void by_virtual_time(task<void> test) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  tandem::run(std::move(test), options);
}

/// When five ticks come if 250 ms pass between the first and the second.
task<times> after_a_gap(missed_ticks policy) {
  const auto start = tandem::now();
  interval every(100ms, policy);
  times came;
  for (int i = 0; i < 5; ++i) {
    co_await every.tick();
    came.push_back(std::chrono::duration_cast<milliseconds>(tandem::now() - start));
    if (i == 0) co_await tandem::sleep_for(250ms);
  }
  co_return came;
}

TEST(interval, ticks_do_not_drift_with_what_happens_between_them) {
  by_virtual_time([]() -> task<void> {
    const auto start = tandem::now();
    interval every(100ms);
    for (int i = 1; i <= 50; ++i) {
      EXPECT_EQ(co_await every.tick(), start + i * 100ms);
      EXPECT_EQ(tandem::now(), start + i * 100ms);
      co_await tandem::sleep_for(i * 1ms);
    }
  }());
}

TEST(interval, missed_ticks_are_made_up_for_or_begin_a_new_grid_or_are_left_out) {
  const times burst{100ms, 350ms, 350ms, 400ms, 500ms};
  const times delay{100ms, 350ms, 450ms, 550ms, 650ms};
  const times skip{100ms, 350ms, 400ms, 500ms, 600ms};
  by_virtual_time([](const times& b, const times& d, const times& s) -> task<void> {
    EXPECT_EQ(co_await after_a_gap(missed_ticks::burst), b);
    EXPECT_EQ(co_await after_a_gap(missed_ticks::delay), d);
    EXPECT_EQ(co_await after_a_gap(missed_ticks::skip), s);
  }(burst, delay, skip));
}

TEST(interval, the_first_tick_may_be_at_once_or_later) {
  by_virtual_time([]() -> task<void> {
    const auto start = tandem::now();
    interval at_once(100ms, start);
    EXPECT_EQ(co_await at_once.tick(), start);
    EXPECT_EQ(co_await at_once.tick(), start + 100ms);
    interval later(100ms, start + 130ms, missed_ticks::skip);
    EXPECT_EQ(co_await later.tick(), start + 130ms);
    EXPECT_EQ(co_await later.tick(), start + 230ms);
    EXPECT_EQ(tandem::now(), start + 230ms);
  }());
}

TEST(interval, a_reset_begins_again_from_now) {
  by_virtual_time([]() -> task<void> {
    const auto start = tandem::now();
    interval every(100ms);
    co_await tandem::sleep_for(70ms);
    every.reset();
    EXPECT_EQ(co_await every.tick(), start + 170ms);
    every.reset_at(start + 1s);
    EXPECT_EQ(co_await every.tick(), start + 1s);
    EXPECT_EQ(every.next(), start + 1100ms);
  }());
}

TEST(interval, a_wait_that_is_cancelled_loses_no_tick) {
  by_virtual_time([]() -> task<void> {
    const auto start = tandem::now();
    interval every(100ms);
    const auto got = co_await tandem::as_result(
        tandem::with_timeout(30ms, [](interval& i) -> task<void> { co_await i.tick(); }(every)));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_EQ(co_await every.tick(), start + 100ms);
  }());
}

TEST(interval, periods_that_are_not_above_zero_are_refused_and_endless_ones_are_not) {
  by_virtual_time([]() -> task<void> {
    EXPECT_THROW(interval(0s), std::invalid_argument);
    EXPECT_THROW(interval(-1s), std::invalid_argument);
    interval endless(interval::duration::max(), tandem::now());
    co_await endless.tick();
    EXPECT_EQ(endless.next(), interval::time_point::max());
  }());
}

}  // namespace
