// blocking_region_test.cpp: workers that say that they are going to block.
// SPDX-License-Identifier: MIT
#include <tandem/blocking_region.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <semaphore>
#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>
#include <vector>

#include "adaptive_pool_support.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::blocking_region;
using tandem::decision_reason;
using tandem::pool_action;
using tandem::runtime_options;
using tandem::task;
using tandem::test::count_of;
using tandem::test::quick;
using tandem::test::test_runtime;
using tandem::test::wait_until;

TEST(blocking_region, whoever_blocks_in_a_region_is_replaced_without_waiting_for_the_gate) {
  runtime_options options = quick(2, 64);
  options.adaptive.gate_period = 1h;  // it does not help
  test_runtime rt(options);
  std::latch all(10);
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < 10; ++i) {
    handles.push_back(rt->spawn([](std::latch& here) -> task<void> {
      const blocking_region region;
      here.arrive_and_wait();
      co_return;
    }(all)));
  }
  for (auto& each : handles) each.wait();
  EXPECT_EQ(rt.workers().stats().blocked, 0U);
  // What was added for them is taken back.
  wait_until([&] { return rt.workers().stats().goal == 2; });
  wait_until([&] {
    return count_of(rt.workers().decisions(), pool_action::inject, decision_reason::blocking) > 0;
  });
}

TEST(blocking_region, regions_may_be_nested_and_count_once) {
  test_runtime rt(quick(2, 64));
  rt.run([](tandem::worker_pool& pool) -> task<void> {
    const blocking_region outer;
    {
      const blocking_region inner;
      EXPECT_EQ(pool.stats().blocked, 1U);
    }
    EXPECT_EQ(pool.stats().blocked, 1U);
    co_return;
  }(rt.workers()));
  EXPECT_EQ(rt.workers().stats().blocked, 0U);
  const blocking_region outside_any_pool;
}

TEST(blocking_region, a_region_gives_what_waits_in_the_lanes_of_its_worker_to_others) {
  test_runtime rt(quick(2, 8));
  rt.run([]() -> task<void> {
    std::binary_semaphore ran(0);
    auto next = tandem::spawn([](std::binary_semaphore& here) -> task<void> {
      here.release();
      co_return;
    }(ran));
    {
      const blocking_region region;
      ran.acquire();
    }
    co_await next;
  }());
}

}  // namespace
