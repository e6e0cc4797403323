// adaptive_pool_stress.cpp: threads come and go as fast as they can under work of every kind.
// SPDX-License-Identifier: MIT
//
// The laws: every item runs once; the pool is never above max_threads, and ends at min_threads; it
// can be shut down at any moment, also while threads come and go.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <tandem/blocking_region.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::stress;
using tandem::test::test_runtime;

/// Everything happens as often as it can.
tandem::runtime_options restless(std::mt19937_64& random) {
  tandem::runtime_options options;
  options.min_threads = 1 + static_cast<unsigned>(random() % 3);
  options.max_threads = options.min_threads + 1 + static_cast<unsigned>(random() % 8);
  options.keep_alive = std::chrono::microseconds(1 + random() % 500);
  options.adaptive.gate_period = 1ms;
  options.adaptive.starvation_delay = 1ms;
  options.adaptive.starvation_busy_delay_per_thread = 1ms;
  options.adaptive.min_sample_interval = 1ms;
  options.adaptive.max_sample_interval = 2ms;
  options.adaptive.coarse_sample_retry = 1ms;
  options.adaptive.cpu_sample_interval = 1ms;
  options.adaptive.blocking_delay_step = 1ms;
  options.adaptive.blocking_max_delay = 2ms;
  options.log_starvation = false;
  return options;
}

task<int> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

task<void> item(std::atomic<long>& ran, std::uint64_t dice) {
  switch (dice % 8) {
    case 0: {
      const tandem::blocking_region region;
      std::this_thread::sleep_for(std::chrono::microseconds(dice / 8 % 300));
      break;
    }
    case 1: std::this_thread::sleep_for(std::chrono::microseconds(dice / 8 % 300)); break;
    case 2: co_await tandem::sleep_for(std::chrono::microseconds(dice / 8 % 300)); break;
    case 3: EXPECT_EQ(co_await fib(10), 55); break;
    case 4:
      for (std::uint64_t i = 0; i < dice / 8 % 20; ++i) co_await tandem::yield();
      break;
    default: break;
  }
  ++ran;
}

task<void> many(std::atomic<long>& ran, std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < count; ++i) {
      scope.spawn(item(ran, random()));
      if (random() % 16 == 0) co_await tandem::yield();
    }
  });
}

TEST(adaptive_pool_stress, every_item_runs_once_while_threads_come_and_go) {
  stress([](std::mt19937_64& random) {
    const tandem::runtime_options options = restless(random);
    test_runtime rt(options);
    for (int burst = 0; burst < 5; ++burst) {
      std::atomic<long> ran{0};
      const int count = 1 + static_cast<int>(random() % 200);
      auto inside = rt->spawn(many(ran, random(), count));
      // From outside, too.
      std::vector<tandem::join_handle<void>> handles;
      for (int i = 0; i < 20; ++i) handles.push_back(rt->spawn(item(ran, random())));
      for (auto& each : handles) each.wait();
      inside.wait();
      EXPECT_EQ(ran.load(), count + 20);
      EXPECT_LE(rt.workers().stats().threads, options.max_threads);
      if (random() % 2 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
      }
    }
    // What is one too many goes, and nothing else.
    while (rt.workers().stats().threads > options.min_threads) std::this_thread::sleep_for(100us);
  });
}

TEST(adaptive_pool_stress, shut_down_at_any_moment_it_ends) {
  stress([](std::mt19937_64& random) {
    std::atomic<long> ran{0};
    {
      tandem::runtime rt(restless(random));
      for (int i = 0; i < 30; ++i) (void)rt.spawn(item(ran, random()));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    }
    EXPECT_LE(ran.load(), 30);
  });
}

}  // namespace
