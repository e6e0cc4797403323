// metrics_sources_test.cpp: what the snapshot takes from timers and threads, and how runtimes are told apart.
// SPDX-License-Identifier: MIT
#include <tandem/runtime_metrics.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <tandem/errors.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "exposition_parser.hpp"
#include "simulated.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::runtime;
using tandem::runtime_metrics;
using tandem::runtime_options;
using tandem::task;
using tandem::timer_stats;
using tandem::test::exposition;
using tandem::test::simulated;
using tandem::test::work;

task<void> sleep_and_work(std::chrono::milliseconds pause, std::chrono::milliseconds after) {
  co_await tandem::sleep_for(pause);
  work(after);
}

task<int> in_time() {
  co_await tandem::sleep_for(1ms);
  co_return 7;
}

task<int> limited() { co_return co_await tandem::with_timeout(1h, in_time()); }

TEST(metrics_of_timers, each_timer_is_armed_then_fired_or_stopped) {
  runtime rt(simulated(1));
  EXPECT_EQ(rt.metrics().timers.started, 0U);
  tandem::join_handle<void> one = rt.spawn(sleep_and_work(10ms, 0ms));
  tandem::join_handle<void> two = rt.spawn(sleep_and_work(24h, 0ms));
  rt.run_for(1ms);
  timer_stats now = rt.metrics().timers;
  EXPECT_EQ(now.armed, 2U);
  EXPECT_EQ(now.started, 2U);
  EXPECT_EQ(now.fired + now.stopped, 0U);
  one.wait();
  now = rt.metrics().timers;
  EXPECT_EQ(now.armed, 1U);
  EXPECT_EQ(now.fired, 1U);
  two.cancel();
  EXPECT_THROW(two.wait(), tandem::operation_cancelled);
  EXPECT_EQ(rt.spawn(limited()).wait(), 7);
  now = rt.metrics().timers;
  EXPECT_EQ(now.armed, 0U);
  EXPECT_EQ(now.started, 4U);
  EXPECT_EQ(now.fired, 2U);
  EXPECT_EQ(now.stopped, 2U) << "the cancelled sleep, and the limit of what came in time";
  EXPECT_EQ(now.lateness, 0ns) << "a virtual clock stops at each deadline";
}

TEST(metrics_of_timers, lateness_is_what_passed_between_deadline_and_firing) {
  runtime rt(simulated(1));
  tandem::join_handle<void> first =
      rt.spawn(sleep_and_work(10ms, 30ms));  // nothing fires meanwhile
  tandem::join_handle<void> second = rt.spawn(sleep_and_work(15ms, 0ms));
  first.wait();
  second.wait();
  const runtime_metrics now = rt.metrics();
  EXPECT_EQ(now.timers.fired, 2U);
  EXPECT_EQ(now.timers.lateness, 25ms);
  const exposition page(metrics_text(now));
  EXPECT_EQ(page.value("tandem_timers_fired_total", {{"runtime", now.name}}), 2);
  EXPECT_EQ(page.value("tandem_timers_started_total", {{"runtime", now.name}}), 2);
  EXPECT_EQ(page.value("tandem_timers_stopped_total", {{"runtime", now.name}}), 0);
  EXPECT_EQ(page.value("tandem_timers_armed", {{"runtime", now.name}}), 0);
  EXPECT_EQ(page.value("tandem_timer_lateness_seconds_total", {{"runtime", now.name}}), 0.025);
  EXPECT_TRUE(page.has("tandem_timer_wakes_total"));
}

runtime_options named(const char* name) {
  runtime_options options;
  options.min_threads = 0;
  options.name = name;
  return options;
}

TEST(metrics_of_runtimes, those_of_one_name_have_series_of_their_own_in_one_text) {
  runtime first(named("shop"));
  runtime second(named("shop"));
  const runtime third(named("shop"));
  second.spawn(in_time()).detach();
  std::vector<tandem::metric_family> all;
  for (const runtime* each : std::initializer_list<const runtime*>{&first, &second, &third}) {
    const runtime_metrics now = each->metrics();
    EXPECT_EQ(now.name, "shop");
    for (tandem::metric_family& family : now.families()) all.push_back(std::move(family));
  }
  const exposition page(metrics_text(all));
  EXPECT_EQ(page.value("tandem_live_tasks", {{"runtime", "shop"}}), 0);
  EXPECT_EQ(page.value("tandem_live_tasks", {{"runtime", "shop#2"}}), 1);
  EXPECT_EQ(page.value("tandem_live_tasks", {{"runtime", "shop#3"}}), 0);
  second.run_until_idle();
}

TEST(metrics_of_runtimes, a_series_is_free_again_when_its_runtime_has_ended_and_never_taken_twice) {
  auto first = std::make_unique<runtime>(named("shop"));
  const runtime chosen(named("shop#2"));
  const runtime third(named("shop"));
  EXPECT_EQ(third.metrics().series, "shop#3");
  first.reset();
  const runtime again(named("shop"));
  EXPECT_EQ(again.metrics().series, "shop");
}

TEST(metrics_of_threads, a_runtime_without_threads_says_that_it_has_none_and_may_have_none) {
  for (const bool is_simulated : {false, true}) {
    runtime rt(is_simulated ? simulated(1, 3) : named("none"));
    const tandem::worker_pool_stats now = rt.workers().view().stats();
    EXPECT_EQ(now.min_threads, 0U);
    EXPECT_EQ(now.max_threads, 0U);
    EXPECT_EQ(now.threads, 0U);
    EXPECT_EQ(rt.workers().view().size(), is_simulated ? 3U : 1U) << "workers, not threads";
  }
}

// The example of runtime_metrics.hpp.
std::string page_for(const tandem::runtime& rt, double age_seconds) {
  std::vector<tandem::metric_family> all = rt.metrics().families();
  all.emplace_back("app_oldest_order_seconds", "Age.", tandem::metric_kind::gauge, age_seconds);
  return tandem::metrics_text(all);  // for GET /metrics
}

TEST(metrics_of_runtimes, the_example_of_the_header_gives_a_page) {
  const runtime rt(named("shop"));
  const exposition page(page_for(rt, 1.5));
  EXPECT_EQ(page.value("app_oldest_order_seconds"), 1.5);
  EXPECT_TRUE(page.has("tandem_timers_armed"));
}

}  // namespace
