// blocking_stress.cpp: random calls, stops and time limits on a small pool whose threads come and go.
// SPDX-License-Identifier: MIT
//
// The laws: a call runs at most once; a task that got a value had its call run; one that was
// cancelled had not; afterwards nothing is queued, and no thread is lost.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <thread>
#include <vector>

#include "planned_failure.hpp"
#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::planned_failure;
using tandem::test::stress;
using tandem::test::test_runtime;

struct counts {
  std::atomic<long> ran{0};
  std::atomic<long> values{0};
  std::atomic<long> failures{0};
  std::atomic<long> cancelled{0};
};

int call_of(counts& all, unsigned dice) {
  ++all.ran;
  if (dice % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(dice % 300));
  if (dice % 7 == 0) throw planned_failure();
  return static_cast<int>(dice);
}

task<int> one_call(counts& all, unsigned dice) {
  co_return co_await tandem::blocking([&all, dice] { return call_of(all, dice); });
}

task<void> some_calls(counts& all, std::uint64_t seed) {
  std::minstd_rand random(static_cast<unsigned>(seed));
  const unsigned count = 1 + static_cast<unsigned>(random()) % 6;
  for (unsigned i = 0; i < count; ++i) {
    const auto dice = static_cast<unsigned>(random());
    try {
      int got = 0;
      if (dice % 3 == 0) {
        got = co_await tandem::with_timeout(std::chrono::microseconds(dice % 500),
                                            one_call(all, dice));
      } else {
        got = co_await one_call(all, dice);
      }
      EXPECT_EQ(got, static_cast<int>(dice));
      ++all.values;
    } catch (const planned_failure&) {
      ++all.failures;
    } catch (const std::system_error&) {
      ++all.cancelled;  // by a stop, or by the time limit, before the call began
    }
  }
}

TEST(blocking_stress, no_call_is_lost_or_runs_twice_and_no_thread_stays) {
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.blocking.max_threads = 3;
  options.blocking.keep_alive = 1ms;
  test_runtime rt(options);
  stress([&rt](std::mt19937_64& random) {
    counts all;
    std::vector<tandem::join_handle<void>> tasks;
    const std::size_t size = 1 + random() % 64;
    for (std::size_t i = 0; i < size; ++i) tasks.push_back(rt->spawn(some_calls(all, random())));
    for (auto& each : tasks) {
      if (random() % 4 == 0) each.cancel();
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    }
    for (auto& each : tasks) {
      try {
        each.wait();
      } catch (const tandem::operation_cancelled&) {
        // Removed before it started.
      }
    }
    EXPECT_EQ(all.ran.load(), all.values.load() + all.failures.load());
    const tandem::blocking_stats stats = rt->use_service<tandem::blocking_pool>().stats();
    EXPECT_EQ(stats.queued, 0U);
    EXPECT_LE(stats.peak, 3U);
    if (random() % 4 == 0) std::this_thread::sleep_for(2ms);  // they end meanwhile
  });
  while (rt->use_service<tandem::blocking_pool>().stats().threads != 0) std::this_thread::yield();
}

TEST(blocking_stress, runtimes_end_while_calls_are_queued_and_threads_start_and_retire) {
  stress([](std::mt19937_64& random) {
    tandem::runtime_options options = tandem::test::with_threads(1 + random() % 2);
    options.blocking.max_threads = static_cast<unsigned>(1 + random() % 3);
    options.blocking.keep_alive = std::chrono::milliseconds(random() % 2);
    counts all;
    {
      test_runtime rt(options);
      const std::size_t size = random() % 16;
      for (std::size_t i = 0; i < size; ++i) rt->spawn(some_calls(all, random())).detach();
      if (random() % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 900));
    }
    EXPECT_EQ(all.ran.load(), all.values.load() + all.failures.load());
  });
}

}  // namespace
