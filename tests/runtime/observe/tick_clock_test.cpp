// tick_clock_test.cpp: laws of the clock that is told by a counter.
// SPDX-License-Identifier: MIT
#include "observe/tick_clock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

/// A machine whose counter and clock the test moves: 3 ticks for each nanosecond, unless it says
/// something else.
struct machine {
  static inline std::atomic<std::uint64_t> counter{0};
  static inline std::atomic<std::int64_t> clock{0};
  static inline std::atomic<std::uint64_t> looks{0};  // at the clock
  static inline std::atomic<std::uint64_t> delay{0};  // in ticks: what a look at the clock takes

  static std::uint64_t ticks() noexcept { return counter.load(std::memory_order_acquire); }
  static std::int64_t steady_ns() noexcept {
    looks.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t late = delay.load(std::memory_order_relaxed);
    if (late != 0) pass(static_cast<std::int64_t>(late / 3));
    return clock.load(std::memory_order_acquire);
  }
  static void reset() noexcept {
    counter = 1'000'000'000'000;
    clock = 5'000'000'000;
    looks = 0;
    delay = 0;
  }
  static void pass(std::int64_t ns, double pace = 3) noexcept {
    counter.fetch_add(static_cast<std::uint64_t>(static_cast<double>(ns) * pace));
    clock.fetch_add(ns);
  }
};

using clock_under_test = tandem::detail::tick_clock<machine>;
constexpr std::int64_t millisecond = 1'000'000;
constexpr std::int64_t look = clock_under_test::between_looks_ns;

/// After its first two looks: it goes by the counter.
void settle(clock_under_test& clock) {
  (void)clock.now_ns();
  machine::pass(look + millisecond);
  (void)clock.now_ns();
}

class tick_clock : public ::testing::Test {
 protected:
  tick_clock() { machine::reset(); }
};

TEST_F(tick_clock, it_is_the_steady_clock_until_it_has_seen_the_pace_and_then_looks_at_it_no_more) {
  clock_under_test clock(true);
  EXPECT_EQ(clock.now_ns(), machine::clock);
  machine::pass(millisecond);
  EXPECT_EQ(clock.now_ns(), machine::clock);
  machine::pass(look);
  EXPECT_EQ(clock.now_ns(), machine::clock);
  machine::looks = 0;
  for (int i = 0; i < 9; ++i) {
    machine::pass(millisecond + 1);
    EXPECT_NEAR(static_cast<double>(clock.now_ns()), static_cast<double>(machine::clock), 1);
  }
  EXPECT_EQ(machine::looks, 0U);
}

TEST_F(tick_clock, without_a_counter_it_is_the_steady_clock) {
  clock_under_test clock(false);
  settle(clock);
  machine::looks = 0;
  for (int i = 1; i <= 5; ++i) {
    machine::pass(millisecond, 0);
    EXPECT_EQ(clock.now_ns(), machine::clock);
    EXPECT_EQ(machine::looks, static_cast<std::uint64_t>(i));
  }
}

TEST_F(tick_clock, it_follows_a_clock_that_is_slewed) {
  clock_under_test clock(true);
  settle(clock);
  for (int i = 0; i < 1000; ++i) {
    // 500 millionths at most, to and fro.
    machine::pass(millisecond, 3 * (1 + 500e-6 * std::sin(i / 60.0)));
    EXPECT_NEAR(static_cast<double>(clock.now_ns()), static_cast<double>(machine::clock), 10'000);
  }
  EXPECT_TRUE(clock.believes_ticks());
}

TEST_F(tick_clock, after_an_hour_without_a_reading_it_is_right_at_once) {
  clock_under_test clock(true);
  settle(clock);
  machine::pass(3'600'000 * millisecond, 3.0001);
  EXPECT_EQ(clock.now_ns(), machine::clock);
  EXPECT_TRUE(clock.believes_ticks());
}

TEST_F(tick_clock, a_counter_that_is_not_as_the_clock_is_never_believed_again) {
  struct fault {
    const char* what;
    std::int64_t ns;
    double pace;
  };
  // In ticks: back by three seconds, on by five seconds, by a quarter too many, and none at all.
  for (const fault& each :
       {fault{"it goes back", look, -900}, fault{"the clock stood still", look, 1500},
        fault{"it goes too fast", look, 3.75}, fault{"it stands", look, 0}}) {
    SCOPED_TRACE(each.what);
    machine::reset();
    clock_under_test clock(true);
    settle(clock);
    ASSERT_TRUE(clock.believes_ticks());
    const auto moved = static_cast<std::int64_t>(static_cast<double>(each.ns) * each.pace);
    machine::counter.fetch_add(static_cast<std::uint64_t>(moved));
    machine::clock.fetch_add(each.ns);
    (void)clock.now_ns();
    // The one that stands is found out when it moves on.
    machine::pass(look + millisecond);
    EXPECT_EQ(clock.now_ns(), machine::clock);
    EXPECT_FALSE(clock.believes_ticks());
    machine::pass(millisecond, 7);
    EXPECT_EQ(clock.now_ns(), machine::clock);
  }
}

TEST_F(tick_clock, a_look_that_takes_long_says_nothing_of_the_pace) {
  clock_under_test clock(true);
  settle(clock);
  machine::delay = 3 * 5 * millisecond;  // as if the thread were preempted within each look
  for (int i = 0; i < 20; ++i) {
    machine::pass(look);
    (void)clock.now_ns();
  }
  EXPECT_TRUE(clock.believes_ticks());
  machine::delay = 0;
  machine::pass(2 * look);
  (void)clock.now_ns();
  machine::pass(millisecond);
  machine::looks = 0;
  EXPECT_NEAR(static_cast<double>(clock.now_ns()), static_cast<double>(machine::clock), 1'000);
  EXPECT_EQ(machine::looks, 0U);
}

TEST_F(tick_clock, threads_read_what_the_clock_says_while_others_look) {
  clock_under_test clock(true);
  settle(clock);
  constexpr std::int64_t tolerance =
      20'000;  // a look may be a ten-thousandth of 10 ms wide, and the pace so wrong
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const std::int64_t before = machine::clock;
        const std::int64_t now = clock.now_ns();
        const std::int64_t after = machine::clock;
        if (now < before - tolerance || now > after + tolerance) ++wrong;
      }
    });
  }
  for (int i = 0; i < 1'000'000; ++i) machine::pass(3'000);
  stop = true;
  for (std::thread& each : readers) each.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
