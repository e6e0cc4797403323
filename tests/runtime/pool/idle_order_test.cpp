// idle_order_test.cpp: the youngest sleeper is woken first, the oldest goes first.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <tandem/pool_change.hpp>
#include <tandem/runtime.hpp>
#include <vector>

#include "runtime/support/reconfigure_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::growth_order;
using tandem::join_handle;
using tandem::runtime_options;
using tandem::task;
using tandem::worker_pool;

constexpr std::size_t workers = 3;

task<void> block_and_tell(gate& closed, std::atomic<int>& who) {
  who = tandem::current_worker_index();
  auto blocked = closed.block();
  co_await std::move(blocked);
}

/// Lets all workers of a pool park one after the other. @returns their numbers, who parked first in
/// front
std::array<int, workers> park_in_turn(worker_pool& pool) {
  std::array<gate, workers> gates;
  std::array<std::atomic<int>, workers> numbers{};
  std::vector<join_handle<void>> handles;
  for (std::size_t i = 0; i < workers; ++i) {
    handles.push_back(pool.submit(block_and_tell(gates[i], numbers[i])));
  }
  for (const gate& each : gates) wait_until([&] { return each.inside() == 1; });
  std::array<int, workers> order{};
  for (std::size_t i = 0; i < workers; ++i) {
    order[i] = numbers[i];
    gates[i].open();
    wait_until([&] { return pool.stats().idle == i + 1; });
  }
  for (auto& each : handles) each.wait();
  return order;
}

TEST(worker_pool, the_worker_that_parked_last_is_woken_first) {
  test_runtime rt(pool_of(workers, workers, growth_order::demand));
  const std::array<int, workers> order = park_in_turn(rt.workers());
  const auto who_runs = []() -> task<int> { co_return tandem::current_worker_index(); };
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(rt.workers().submit(who_runs()).wait(), order.back());
    // It parks on top of those that have slept all the time.
    wait_until([&] { return rt.workers().stats().idle == workers; });
  }
  // While it is busy the next one is the one that parked before it.
  gate closed;
  std::atomic<int> busy{-1};
  auto running = rt.workers().submit(block_and_tell(closed, busy));
  wait_until([&] { return closed.inside() == 1 && rt.workers().stats().idle == workers - 1; });
  EXPECT_EQ(busy.load(), order[2]);
  EXPECT_EQ(rt.workers().submit(who_runs()).wait(), order[1]);
  closed.open();
  running.wait();
}

TEST(worker_pool, the_worker_that_has_been_idle_longest_retires_first) {
  for (const growth_order growth : {growth_order::demand, growth_order::threads_first}) {
    std::mutex lock;
    std::vector<int> gone;
    runtime_options options = pool_of(workers, workers, growth);
    options.threads.on_exit = [&](unsigned worker) {
      const std::lock_guard guard(lock);
      gone.push_back(static_cast<int>(worker));
    };
    test_runtime rt(options);
    const std::array<int, workers> order = park_in_turn(rt.workers());
    for (unsigned left = workers - 1; left > 0; --left) {
      rt.workers().reconfigure(threads_between(left, left));  // one too many
      wait_until([&] {
        const std::lock_guard guard(lock);
        return gone.size() == workers - left;
      });
    }
    const std::lock_guard guard(lock);
    EXPECT_EQ(gone, (std::vector<int>{order[0], order[1]}));
  }
}

TEST(worker_pool, of_those_that_were_idle_for_keep_alive_the_youngest_stays) {
  std::mutex lock;
  std::vector<int> gone;
  runtime_options options = pool_of(workers, workers, growth_order::demand);
  options.threads.on_exit = [&](unsigned worker) {
    const std::lock_guard guard(lock);
    gone.push_back(static_cast<int>(worker));
  };
  test_runtime rt(options);
  const std::array<int, workers> order = park_in_turn(rt.workers());
  tandem::pool_change change;
  change.min_threads = 1;
  change.keep_alive = 1ns;
  rt.workers().reconfigure(change);
  wait_until([&] {
    const std::lock_guard guard(lock);
    return gone.size() == workers - 1;
  });
  const std::lock_guard guard(lock);
  EXPECT_EQ(std::count(gone.begin(), gone.end(), order.back()), 0);
}

}  // namespace
