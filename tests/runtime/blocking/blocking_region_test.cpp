// blocking_region_test.cpp: workers that say that they are going to block.
// SPDX-License-Identifier: MIT
#include <tandem/blocking_region.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <tandem/cpu_count.hpp>
#include <tandem/event.hpp>
#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>
#include <vector>

#include "runtime/support/adaptive_pool_support.hpp"
#include "test_runtime.hpp"
#include "waits.hpp"

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
  tandem::test::latch all(10);
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < 10; ++i) {
    handles.push_back(rt->spawn([](tandem::test::latch& here) -> task<void> {
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

/// One worker that stays, and nothing but regions that could bring another one.
runtime_options only_regions() {
  runtime_options options;
  options.min_threads = 1;
  options.max_threads = 64;
  options.keep_alive = 1h;
  options.adaptive.gate_period = 1h;
  options.adaptive.min_sample_interval = 1h;
  options.adaptive.max_sample_interval = 1h;
  return options;
}

unsigned goal_inside_a_region(const runtime_options& options) {
  test_runtime rt(options);
  return rt.run([](tandem::worker_pool& pool) -> task<unsigned> {
    const blocking_region region;
    co_return pool.stats().goal;
  }(rt.workers()));
}

TEST(blocking_region, the_constants_of_a_pool_that_sets_none_are_one_per_cpu_and_25_to_250_ms) {
  const tandem::adaptive_options of_pool = runtime_options().adaptive;
  EXPECT_EQ(of_pool.blocking_at_once_per_cpu, 1U);
  EXPECT_EQ(of_pool.blocking_per_step_per_cpu, 1U);
  EXPECT_EQ(of_pool.blocking_delay_step, 25ms);
  EXPECT_EQ(of_pool.blocking_max_delay, 250ms);
}

TEST(blocking_region, how_many_are_replaced_at_once_is_what_the_options_of_the_pool_say) {
  EXPECT_EQ(goal_inside_a_region(only_regions()), 2U);
  runtime_options options = only_regions();
  options.adaptive.blocking_at_once_per_cpu = 0;
  options.adaptive.blocking_delay_step = 1h;
  options.adaptive.blocking_max_delay = 1h;
  EXPECT_EQ(goal_inside_a_region(options), 1U);
}

TEST(blocking_region,
     beyond_those_at_once_each_comes_after_the_delay_that_the_options_of_the_pool_say) {
  for (const std::chrono::milliseconds step : {25ms, 40ms}) {  // 25 ms: what is said by none
    runtime_options options = only_regions();
    if (step != 25ms) options.adaptive.blocking_delay_step = step;
    const unsigned cpus = tandem::usable_cpus();
    const unsigned at_once = options.min_threads + cpus;
    const unsigned all = at_once + cpus + 1;  // the last one after two steps
    const std::chrono::milliseconds expected = cpus * step + 2 * step;
    const auto began = std::chrono::steady_clock::now();
    test_runtime rt(options);
    tandem::test::latch met(all);
    std::vector<tandem::join_handle<void>> handles;
    for (unsigned i = 0; i < all; ++i) {
      handles.push_back(rt->spawn([](tandem::test::latch& here) -> task<void> {
        const blocking_region region;
        here.arrive_and_wait();
        co_return;
      }(met)));
    }
    met.wait();
    // A timer never fires early; how late it fires is nobody's promise.
    EXPECT_GE(std::chrono::steady_clock::now() - began, expected);
    for (auto& each : handles) each.wait();
  }
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
    tandem::test::thread_semaphore ran(0);
    auto next = tandem::spawn([](tandem::test::thread_semaphore& here) -> task<void> {
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

/// Makes `next` ready, and blocks until it has run.
task<void> depends_on_next(tandem::event& ready, tandem::test::thread_semaphore& ran, bool in_a_region) {
  ready.set();
  if (in_a_region) {
    const blocking_region region;
    ran.acquire();
  } else {
    ran.acquire();
  }
  co_return;
}

task<void> next_to_run(tandem::event& ready, tandem::test::thread_semaphore& ran) {
  co_await ready.wait();
  ran.release();
}

/// A waiter is made ready on a worker that then blocks, while the other workers are parked.
void block_on_the_next_slot(const runtime_options& options, bool in_a_region) {
  test_runtime rt(options);
  tandem::event ready;
  tandem::test::thread_semaphore ran(0);
  auto next = rt->spawn(next_to_run(ready, ran));
  (void)rt.workers().prestart_all_core_threads();
  wait_until([&] {
    const auto stats = rt.workers().stats();
    return stats.idle == 4 && stats.threads == 4;
  });
  rt->spawn(depends_on_next(ready, ran, in_a_region)).wait();
  next.wait();
}

// Found by review: the gate did not look into next slots, and regions did nothing in pools without
// a controller.
TEST(blocking_region, the_gate_finds_what_lies_in_the_next_slot_of_a_worker_that_blocks) {
  block_on_the_next_slot(quick(4, 16), false);
}

TEST(blocking_region, in_a_fixed_pool_a_region_gives_its_next_slot_to_others) {
  runtime_options options = quick(4, 4);
  options.adaptive = false;
  block_on_the_next_slot(options, true);
}

// Found by review: each region woke or started a thread.
TEST(blocking_region, where_nothing_waits_a_region_starts_no_thread) {
  runtime_options options = quick(1, 8);
  options.adaptive.gate_period = 1h;  // while the first thread comes, its task waits
  test_runtime rt(options);
  rt.run([]() -> task<void> {
    for (int i = 0; i < 10; ++i) const blocking_region region;
    co_return;
  }());
  EXPECT_EQ(rt.workers().stats().threads, 1U);
  EXPECT_EQ(count_of(rt.workers().decisions(), pool_action::inject, decision_reason::blocking), 0);
}

// Found by review: with the thread went the room for it, and what came next waited for the gate.
TEST(blocking_region, a_stand_in_that_retires_leaves_its_room) {
  runtime_options options = quick(2, 16);
  options.keep_alive = 1ms;
  options.adaptive.gate_period = 1h;  // it does not help
  test_runtime rt(options);
  tandem::test::thread_semaphore end(0);
  std::vector<tandem::join_handle<void>> blocked;
  for (int i = 0; i < 3; ++i) {
    blocked.push_back(rt->spawn([](tandem::test::thread_semaphore& over) -> task<void> {
      const blocking_region region;
      over.acquire();
      co_return;
    }(end)));
  }
  wait_until([&] { return rt.workers().stats().goal >= 4; });  // all three are in their regions
  for (int round = 0; round < 5; ++round) {
    wait_until([&] { return rt.workers().stats().threads == 3; });
    EXPECT_GE(rt.workers().stats().goal, 4U);
    rt->spawn([]() -> task<void> { co_return; }()).wait();  // by a new stand-in
  }
  end.release(3);
  for (auto& each : blocked) each.wait();
}

}  // namespace
