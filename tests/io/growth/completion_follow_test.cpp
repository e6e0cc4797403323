// completion_follow_test.cpp: a completion pool follows the CPUs that the process may use.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>

#include <tandem/cpu_count.hpp>
#include <tandem/io/install.hpp>
#include <tandem/spawn.hpp>
#include <tandem/yield.hpp>

#include "io/support/io_support.hpp"
#include "made_control_group.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::test::made_control_group;
using tandem::test::test_runtime;

completion_options deciding_often() {
  completion_options options;
  options.adaptive.period = 4ms;
  options.adaptive.looks = 4;
  options.on_stall = [](const tandem::io::stall_report&) {};
  return options;
}

/// While it runs the pool is awake.
task<void> runs_until(const completion_pool& pool, unsigned most) {
  while (pool.stats().max_threads != most) co_await tandem::yield();
}

TEST(completion_follow, how_many_there_may_be_follows_the_quota) {
  made_control_group group("100000 100000");
  test_runtime rt(1);
  completion_pool& pool = tandem::io::install(*rt, deciding_often());
  EXPECT_EQ(pool.stats().max_threads, 1U);
  const unsigned all = std::max(
      1U, tandem::platform::limits_of_cpus(tandem::platform::whose_mask::this_threads).of_mask);
  group.set("max 100000");
  rt->spawn(pool.executor(), runs_until(pool, all)).wait();
  group.set("100000 100000");
  rt->spawn(pool.executor(), runs_until(pool, 1)).wait();
}

TEST(completion_follow, threads_that_are_too_many_retire) {
  if (!tandem::test::has_several_cpus()) GTEST_SKIP() << "one CPU only";
  made_control_group group("200000 100000");
  test_runtime rt(1);
  completion_pool& pool = tandem::io::install(*rt, deciding_often());
  pool.resize(2);
  group.set("100000 100000");
  rt->spawn(pool.thread(0).executor(),
            [](const completion_pool& io) -> task<void> {
              while (io.size() != 1) co_await tandem::yield();
            }(pool))
      .wait();
  // It is noted after it was done.
  constexpr auto why = static_cast<std::size_t>(tandem::decision_reason::outside_change);
  while (pool.stats().retirements[why] == 0) std::this_thread::sleep_for(1ms);
}

TEST(completion_follow, a_number_that_was_set_stays) {
  made_control_group group("100000 100000");
  test_runtime rt(1);
  completion_options options = deciding_often();
  options.max_threads = 2;
  completion_pool& pool = tandem::io::install(*rt, options);
  EXPECT_EQ(pool.stats().max_threads, 2U);
  rt->spawn(pool.executor(),
            [](const completion_pool& io) -> task<void> {
              const auto until = std::chrono::steady_clock::now() + 100ms;
              while (std::chrono::steady_clock::now() < until) co_await tandem::yield();
              EXPECT_EQ(io.stats().max_threads, 2U);
            }(pool))
      .wait();
}

}  // namespace
