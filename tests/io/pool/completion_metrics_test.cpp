// completion_metrics_test.cpp: what the completion pool says of its threads, in its statistics and in the text.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <tandem/io/install.hpp>
#include <tandem/runtime_metrics.hpp>
#include <tandem/yield.hpp>
#include <thread>

#include "exposition_parser.hpp"
#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::decision_reason;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::io::completion_pool_stats;
using tandem::test::exposition;
using tandem::test::test_runtime;

TEST(completion_metrics, the_limits_and_the_goal_are_those_of_the_pool) {
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.name = "limits";
  test_runtime rt(options);
  completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(1, 3));
  completion_pool_stats now = pool.stats();
  EXPECT_EQ(now.min_threads, 1U);
  EXPECT_EQ(now.max_threads, 3U);
  EXPECT_EQ(now.goal, 1U);
  pool.resize(2);
  now = pool.stats();
  EXPECT_EQ(now.goal, 2U);
  EXPECT_EQ(now.threads, 2U);
  const exposition page(metrics_text(rt->metrics()));
  const auto value = [&](const char* name) { return page.value(name, {{"runtime", "limits"}}); };
  EXPECT_EQ(value("tandem_completion_threads_min"), 1);
  EXPECT_EQ(value("tandem_completion_threads_max"), 3);
  EXPECT_EQ(value("tandem_completion_threads_goal"), 2);
  EXPECT_EQ(value("tandem_completion_threads"), 2);
  // The pool itself has added none.
  EXPECT_EQ(page.sum("tandem_completion_thread_injections_total"), 0);
  EXPECT_EQ(page.sum("tandem_completion_thread_retirements_total"), 0);
}

TEST(completion_metrics, threads_that_came_and_went_are_counted_by_reason) {
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.name = "grows";
  test_runtime rt(options);
  completion_options growing = tandem::test::threads_between(1, 2);
  growing.adaptive = true;
  growing.adaptive.period = 4ms;
  growing.adaptive.looks = 4;
  growing.adaptive.stalled_for = 1h;
  growing.adaptive.keep_alive = 1ms;
  completion_pool& pool = tandem::io::install(*rt, growing);
  std::atomic<bool> enough{false};
  const auto busy = [&]() -> task<void> {
    while (!enough) co_await tandem::yield();
  };
  auto first = rt->spawn(pool.executor(), busy());
  auto second = rt->spawn(pool.executor(), busy());
  const auto count = [](const auto& of, decision_reason why) {
    return of[static_cast<std::size_t>(why)];
  };
  while (count(pool.stats().injections, decision_reason::saturated) == 0) {
    std::this_thread::sleep_for(1ms);
  }
  enough = true;
  first.wait();
  second.wait();
  while (count(pool.stats().retirements, decision_reason::idle) == 0) {
    std::this_thread::sleep_for(1ms);
  }
  const auto sum = [](const auto& of) {
    return std::accumulate(of.begin(), of.end(), std::uint64_t{0});
  };
  completion_pool_stats now;
  tandem::runtime_metrics snapshot;
  // All that came have gone, and none came while the two were taken.
  do {
    std::this_thread::sleep_for(1ms);
    now = pool.stats();
    snapshot = rt->metrics();
  } while (sum(now.injections) != sum(now.retirements) ||
           now.injections != pool.stats().injections ||
           now.retirements != pool.stats().retirements);
  EXPECT_EQ(sum(now.injections), count(now.injections, decision_reason::saturated));
  EXPECT_EQ(sum(now.retirements), count(now.retirements, decision_reason::idle));
  const exposition page(metrics_text(snapshot));
  const auto told = [&](const char* name, const char* reason) {
    return page.value(name, {{"runtime", "grows"}, {"reason", reason}});
  };
  EXPECT_EQ(page.type("tandem_completion_thread_injections_total"), "counter");
  EXPECT_EQ(told("tandem_completion_thread_injections_total", "saturated"),
            static_cast<double>(sum(now.injections)));
  EXPECT_EQ(told("tandem_completion_thread_retirements_total", "idle"),
            static_cast<double>(sum(now.retirements)));
}

}  // namespace
