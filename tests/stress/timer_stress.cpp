// timer_stress.cpp: timers that are armed, disarmed, fired and stopped by four threads at once.
// SPDX-License-Identifier: MIT
//
// The laws: a timer fires exactly once or was disarmed, never both and never early; every sleep
// ends; a time limit that races with the end of its task ends it once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/detail/timer_service.hpp>
#include <tandem/interval.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::detail::fired_timers;
using tandem::detail::timer_node;
using tandem::detail::timer_service;
using tandem::test::stress;
using tandem::test::test_runtime;
using steady = std::chrono::steady_clock;

class counted_timer : public timer_node {
 public:
  counted_timer()
      : timer_node([](timer_node& self, fired_timers&) noexcept {
          auto& timer = static_cast<counted_timer&>(self);
          if (steady::now() < timer.deadline) timer.early = true;
          timer.fired.fetch_add(1, std::memory_order_release);  // pairs with the thread that looks
        }) {}

  steady::time_point deadline;
  std::atomic<int> fired{0};
  std::atomic<bool> early{false};
};

TEST(timer_service, each_timer_fires_once_or_was_disarmed) {
  stress([](std::mt19937_64& random) {
    constexpr int threads = 4;
    constexpr int timers = 400;
    timer_service service(1 + static_cast<unsigned>(random() % 3), false);
    const auto work = [&](std::uint64_t seed) {
      std::mt19937_64 own(seed);
      std::vector<counted_timer> mine(timers);
      std::vector<bool> disarmed(timers);
      for (std::size_t i = 0; i < timers; ++i) {
        counted_timer& each = mine[i];
        each.deadline = steady::now() + std::chrono::nanoseconds(own() >> (40 + own() % 24));
        service.prepare(each);
        ASSERT_TRUE(service.arm(each, each.deadline));
        if (own() % 2 == 0) {
          const std::size_t victim = i - own() % std::min<std::size_t>(i + 1, 20);
          if (!disarmed[victim]) disarmed[victim] = service.disarm(mine[victim]);
        }
      }
      for (std::size_t i = 0; i < timers; ++i) {
        if (disarmed[i]) continue;
        while (mine[i].fired.load(std::memory_order_acquire) == 0) std::this_thread::yield();
      }
      // A second firing would come by now, or at the next look of the driver.
      for (std::size_t i = 0; i < timers; ++i) {
        EXPECT_EQ(mine[i].fired.load(std::memory_order_relaxed), disarmed[i] ? 0 : 1);
        EXPECT_FALSE(mine[i].early.load(std::memory_order_relaxed));
      }
    };
    std::vector<std::thread> pool;
    for (int i = 0; i < threads; ++i) pool.emplace_back(work, random());
    for (std::thread& each : pool) each.join();
  });
}

/// Sleeps, limits and ticks at random; counts how it ended.
task<void> wait_about(std::uint64_t seed, std::atomic<int>& ended) {
  std::mt19937_64 random(seed);
  const auto some_time = [&] { return std::chrono::nanoseconds(random() >> (43 + random() % 21)); };
  for (int i = 0; i < 8; ++i) {
    switch (random() % 5) {
      case 0: (void)co_await tandem::as_result(tandem::sleep_for(some_time())); break;
      case 1: {
        const auto nap = [](std::chrono::nanoseconds t) -> task<void> {
          co_await tandem::sleep_for(t);
        };
        (void)co_await tandem::as_result(tandem::with_timeout(some_time(), nap(some_time())));
        break;
      }
      case 2: {
        tandem::interval every(1us + some_time(), tandem::missed_ticks::skip);
        (void)co_await tandem::as_result(every.tick());
        (void)co_await tandem::as_result(every.tick());
        break;
      }
      case 3: (void)co_await tandem::as_result(tandem::sleep_for(0s)); break;
      default: {
        const auto two = [](std::chrono::nanoseconds t) -> task<void> {
          co_await tandem::yield();
          co_await tandem::with_timeout(t, [](std::chrono::nanoseconds u) -> task<void> {
            co_await tandem::sleep_for(u);
          }(t));
        };
        (void)co_await tandem::as_result(tandem::with_timeout(some_time(), two(some_time())));
        break;
      }
    }
  }
  ++ended;
}

TEST(timer, sleeps_limits_and_stops_from_four_threads_end_each_wait_once) {
  test_runtime rt(4);
  stress([&](std::mt19937_64& random) {
    constexpr int tasks = 200;
    std::atomic<int> ended{0};
    const bool stop = random() % 2 == 0;
    const auto all = [](std::atomic<int>& count, std::uint64_t seed, bool stopped) -> task<void> {
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (std::uint64_t i = 0; i < tasks; ++i) scope.spawn(wait_about(seed + i, count));
        if (!stopped) co_return;
        co_await tandem::sleep_for(std::chrono::microseconds(seed % 2000));
        scope.request_stop();
      });
    };
    rt.run([](auto body, std::atomic<int>& count, std::uint64_t seed, bool s) -> task<void> {
      (void)co_await tandem::as_result(body(count, seed, s));
    }(all, ended, random(), stop));
    EXPECT_EQ(ended.load(), tasks);
  });
}

}  // namespace
