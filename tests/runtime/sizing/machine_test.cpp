// machine_test.cpp: pools follow the CPUs that the process may use, unless they were told a number.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>

#include <tandem/cpu_count.hpp>
#include <tandem/pool_change.hpp>
#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>
#include <tandem/yield.hpp>

#include "made_control_group.hpp"
#include "runtime/sizing/told_cpus.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::made_control_group;
using tandem::test::test_runtime;
using tandem::test::told_cpus;

TEST(usable_cpus, of_a_quota_the_whole_ones_count) {
  const made_control_group group("150000 100000");
  EXPECT_EQ(tandem::usable_cpus(), 1U);
  EXPECT_EQ(tandem::usual_workers(), 1U);
}

TEST(usable_cpus, a_variable_overrides_all) {
  const made_control_group group("100000 100000");
  const told_cpus told("7");
  EXPECT_EQ(tandem::usable_cpus(), 7U);
  EXPECT_EQ(tandem::usual_workers(), 7U);
  EXPECT_EQ(tandem::runtime_options().min_threads, 7U);
}

/// While it runs the pool is awake.
task<void> runs_until(const tandem::worker_pool& pool, unsigned least) {
  while (pool.options().min_threads != least) co_await tandem::yield();
}

TEST(follow, a_pool_with_defaults_follows_the_quota) {
  if (!tandem::test::has_several_cpus()) GTEST_SKIP() << "one CPU only";
  made_control_group group("100000 100000");
  test_runtime rt{tandem::runtime_options()};
  EXPECT_EQ(rt.workers().options().min_threads, 1U);
  const unsigned all =
      tandem::platform::limits_of_cpus(tandem::platform::whose_mask::this_threads).of_mask;
  group.set("max 100000");
  rt.run(runs_until(rt.workers(), std::max(2U, all)));
  group.set("100000 100000");
  rt.run(runs_until(rt.workers(), 1));
  EXPECT_EQ(rt.workers().stats().goal, 1U);
}

TEST(follow, a_pool_that_was_told_a_number_stays) {
  made_control_group group("100000 100000");
  tandem::runtime_options options;
  options.min_threads = 3;
  test_runtime rt(options);
  group.set("max 100000");
  rt.run([](const tandem::worker_pool& pool) -> task<void> {
    const auto until = std::chrono::steady_clock::now() + 600ms;
    while (std::chrono::steady_clock::now() < until) {
      EXPECT_EQ(pool.options().min_threads, 3U);
      co_await tandem::yield();
    }
  }(rt.workers()));
}

TEST(follow, one_that_is_told_a_number_later_stays_from_then_on) {
  made_control_group group("100000 100000");
  test_runtime rt{tandem::runtime_options()};
  tandem::pool_change change;
  change.min_threads = 3;
  rt.workers().reconfigure(change);
  EXPECT_FALSE(rt.workers().options().follows_machine());
}

TEST(follow, it_may_be_turned_off) {
  made_control_group group("100000 100000");
  tandem::runtime_options options;
  EXPECT_TRUE(options.follows_machine());
  options.follow_cpus = false;
  EXPECT_FALSE(options.follows_machine());
}

TEST(follow, never_so_many_that_it_could_follow_no_more) {
  made_control_group group("100000 100000");
  tandem::runtime_options options;
  options.max_threads = 4;
  EXPECT_TRUE(options.follows_machine());
  options.follow_machine(9);
  EXPECT_EQ(options.min_threads, 3U);
  EXPECT_TRUE(options.follows_machine());
  options.follow_machine(1);
  EXPECT_EQ(options.min_threads, 1U);
}

}  // namespace
