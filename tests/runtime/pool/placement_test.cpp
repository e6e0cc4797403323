// placement_test.cpp: CPUs on which threads run, where the system has masks of them.
// SPDX-License-Identifier: MIT
#include <tandem/thread_options.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <tandem/cpu_count.hpp>
#include <tandem/runtime.hpp>
#include <utility>
#include <vector>

#include "recording_runtime.hpp"
#include "runtime/pool/thread_support.hpp"
#include "runtime/support/submit_support.hpp"
#include "system.hpp"

namespace {

using namespace tandem::test;  // NOLINT
using tandem::cpu_placement;
using tandem::growth_order;
using tandem::runtime_options;

TEST(cpu_count, follows_the_affinity_mask) {
  const std::vector<unsigned> before = tandem::test::cpus_of_this_thread();
  ASSERT_TRUE(tandem::test::run_on_cpus({before.front()}));
  EXPECT_EQ(tandem::usable_cpus(), 1U);
  ASSERT_TRUE(tandem::test::run_on_cpus(before));
}

TEST(thread_hooks, workers_run_where_they_are_told_to) {
  const std::vector<unsigned> allowed = cpus_of_this_thread();
  runtime_options options = pool_of(3, 3, growth_order::demand);
  options.threads.placement = cpu_placement::one_each;
  options.threads.cpus = {allowed.back(), allowed.front()};
  std::mutex lock;
  std::vector<std::pair<unsigned, std::vector<unsigned>>> seen;
  options.threads.on_start = [&](unsigned worker) {
    const std::lock_guard guard(lock);
    seen.emplace_back(worker, cpus_of_this_thread());
  };
  const auto count = [&] {
    const std::lock_guard guard(lock);
    return seen.size();
  };
  {
    test_runtime rt(options);
    EXPECT_EQ(rt.workers().prestart_all_core_threads(), 3U);
    wait_until([&] { return count() == 3; });
  }
  for (const auto& [worker, cpus] : seen) {
    EXPECT_EQ(cpus, std::vector<unsigned>{options.threads.cpus[worker % 2]});
  }
  seen.clear();
  options.threads.placement = cpu_placement::within;
  options.threads.cpus = {allowed.front()};
  test_runtime rt(options);
  EXPECT_TRUE(rt.workers().prestart_core_thread());
  wait_until([&] { return count() == 1; });
  EXPECT_EQ(seen.front().second, std::vector<unsigned>{allowed.front()});
  EXPECT_EQ(cpus_of_this_thread(), allowed);
}

TEST(thread_hooks, cpus_that_do_not_exist_are_refused_by_name) {
  const auto refused = [](cpu_placement placement, std::vector<unsigned> cpus) {
    return refused_options([&](runtime_options& options) {
      options.threads.placement = placement;
      options.threads.cpus = std::move(cpus);
    });
  };
  EXPECT_NE(refused(cpu_placement::one_each, {999'999}).find("threads.cpus names CPU 999999"),
            std::string::npos);
  EXPECT_NE(refused(cpu_placement::within, {cpus_of_this_thread().front(), 100'000})
                .find("threads.cpus names CPU 100000"),
            std::string::npos);
  EXPECT_NE(refused(cpu_placement::within, {}).find("needs threads.cpus"), std::string::npos);
  EXPECT_NE(refused(cpu_placement::anywhere, {0}).find("threads.placement"), std::string::npos);
}

}  // namespace
