// metrics_test.cpp: laws of the snapshot of a runtime, and of its text for monitoring systems.
// SPDX-License-Identifier: MIT
#include <tandem/runtime_metrics.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tandem/blocking.hpp>
#include <tandem/blocking_region.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/sleep.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "exposition_parser.hpp"
#include "runtime/support/submit_support.hpp"
#include "simulated.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::duration_histogram;
using tandem::metric_family;
using tandem::metric_histogram;
using tandem::metric_kind;
using tandem::metrics_text;
using tandem::runtime;
using tandem::runtime_metrics;
using tandem::runtime_options;
using tandem::task;
using tandem::test::exposition;
using tandem::test::test_runtime;
using tandem::test::wait_until;

exposition parsed(const std::vector<metric_family>& families) {
  return exposition(metrics_text(families));
}

TEST(metrics_text, the_whole_text_is_as_the_format_says) {
  metric_family requests("app_requests_total", "Requests,\nanswered with \"200\" or \\.",
                         metric_kind::counter);
  requests.add(3, {{"path", "/a\\b\"c\nd"}, {"code", "200"}});
  requests.add(0.5);
  metric_family sizes("app_size", "Sizes.", metric_kind::histogram);
  sizes.add(metric_histogram({1, 2.5}, {4, 0, 2}, 17.25), {{"kind", "x"}});
  EXPECT_EQ(metrics_text(std::vector<metric_family>{requests, sizes}),
            "# HELP app_requests_total Requests,\\nanswered with \"200\" or \\\\.\n"
            "# TYPE app_requests_total counter\n"
            "app_requests_total{path=\"/a\\\\b\\\"c\\nd\",code=\"200\"} 3\n"
            "app_requests_total 0.5\n"
            "# HELP app_size Sizes.\n"
            "# TYPE app_size histogram\n"
            "app_size_bucket{kind=\"x\",le=\"1\"} 4\n"
            "app_size_bucket{kind=\"x\",le=\"2.5\"} 4\n"
            "app_size_bucket{kind=\"x\",le=\"+Inf\"} 6\n"
            "app_size_sum{kind=\"x\"} 17.25\n"
            "app_size_count{kind=\"x\"} 6\n");
}

TEST(metrics_text, any_characters_of_a_label_come_back) {
  std::string every;
  for (int each = 1; each < 128; ++each) every += static_cast<char>(each);
  every += "\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x8C\x8A";
  const exposition page = parsed({metric_family("a", "", metric_kind::gauge, 1, {{"b", every}})});
  EXPECT_EQ(page.value("a", {{"b", every}}), 1);
}

TEST(metrics_text, what_is_no_utf8_is_replaced_since_readers_refuse_all_for_it) {
  const exposition page =
      parsed({metric_family("a", "", metric_kind::gauge, 1, {{"b", "x\x80y\xC3(\xED\xA0\x80"}})});
  const std::string no = "\xEF\xBF\xBD";
  EXPECT_EQ(page.value("a", {{"b", "x" + no + "y" + no + "(" + no + no + no}}), 1);
}

TEST(metrics_text, families_of_one_name_from_two_sources_stand_together) {
  const exposition page = parsed({metric_family("a", "A.", metric_kind::gauge, 1, {{"of", "x"}}),
                                  metric_family("b", "B.", metric_kind::gauge, 2),
                                  metric_family("a", "A.", metric_kind::gauge, 3, {{"of", "y"}})});
  EXPECT_EQ(page.sum("a"), 4);
  EXPECT_EQ(page.value("b"), 2);
}

TEST(metrics_text, numbers_come_back_exactly_and_those_that_are_none_have_names) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, 1.0, 0.1, 1e-9, 9007199254740992.0, 1e300, infinity, -infinity}) {
    EXPECT_EQ(parsed({metric_family("a", "", metric_kind::gauge, value)}).value("a"), value);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(parsed({metric_family("a", "", metric_kind::gauge, nan)}).value("a")));
}

TEST(metrics_text, what_the_format_does_not_allow_is_refused_by_name) {
  const auto refused = [](const metric_family& family) {
    try {
      (void)metrics_text({&family, 1});
    } catch (const std::invalid_argument& why) {
      return std::string(why.what()).find(family.name) != std::string::npos;
    }
    return false;
  };
  for (const char* const name : {"", "1a", "a-b", "a b", "\xC3\xA4"}) {
    EXPECT_TRUE(refused(metric_family(name, "", metric_kind::gauge, 1))) << name;
    EXPECT_TRUE(refused(metric_family("good", "", metric_kind::gauge, 1, {{name, "x"}}))) << name;
  }
  EXPECT_TRUE(refused(metric_family("good", "", metric_kind::gauge, 1, {{"a:b", "x"}})));
  metric_family times("times", "", metric_kind::histogram);
  times.add(metric_histogram({1, 1}, {0, 0, 0}, 0));
  EXPECT_TRUE(refused(times)) << "bounds do not grow";
  times.samples.clear();
  times.add(metric_histogram({1}, {0}, 0));
  EXPECT_TRUE(refused(times)) << "a count is missing";
  times.samples.clear();
  times.add(metric_histogram({1}, {0, 0}, 0), {{"le", "x"}});
  EXPECT_TRUE(refused(times)) << "le is the format's own";
  EXPECT_THROW(parsed({metric_family("a", "", metric_kind::gauge, 1, {{"x", "1"}, {"x", "2"}})}),
               std::invalid_argument);
  EXPECT_THROW(parsed({metric_family("a", "", metric_kind::histogram, 1)}), std::invalid_argument);
  metric_family parts("a", "", metric_kind::histogram);
  parts.add(metric_histogram({1}, {0, 0}, 0));
  EXPECT_THROW(parsed({parts, metric_family("a_count", "", metric_kind::gauge, 1)}),
               std::invalid_argument);
  metric_family no_histogram = parts;
  no_histogram.kind = metric_kind::gauge;
  EXPECT_THROW(parsed({no_histogram}), std::invalid_argument);
  EXPECT_THROW(parsed({metric_family("a", "", metric_kind::gauge, 1),
                       metric_family("a", "", metric_kind::counter, 1)}),
               std::invalid_argument);
}

TEST(duration_histogram, each_duration_is_in_the_first_bucket_that_is_not_below_it) {
  for (std::size_t i = 0; i + 1 < duration_histogram::bucket_count; ++i) {
    const std::chrono::nanoseconds bound = duration_histogram::upper_bound(i);
    EXPECT_EQ(duration_histogram::bucket_of(bound), i);
    EXPECT_EQ(duration_histogram::bucket_of(bound + 1ns), i + 1);
  }
  EXPECT_EQ(duration_histogram::bucket_of(-1h), 0U);
  EXPECT_EQ(duration_histogram::bucket_of(0ns), 0U);
  EXPECT_EQ(duration_histogram::bucket_of(std::chrono::nanoseconds::max()),
            duration_histogram::bucket_count - 1);
  duration_histogram times;
  times.add(-1h);
  times.add(1s);
  EXPECT_EQ(times.count(), 2U);
  EXPECT_EQ(times.sum, 1s);
}

task<void> spend(std::chrono::nanoseconds time) {
  tandem::test::work(time);
  co_return;
}

TEST(metrics, histograms_hold_each_wait_and_run_of_timed_tasks_exactly) {
  runtime_options options;
  options.clock = tandem::virtual_time(1, 1);
  options.timed_tasks_one_in = 1;
  runtime rt(options);
  for (int i = 0; i < 4; ++i) rt.spawn(spend(1ms)).detach();  // wait for 0, 1, 2 and 3 ms
  rt.run_until_idle();
  const runtime_metrics now = rt.metrics();
  EXPECT_TRUE(now.times_tasks);
  EXPECT_EQ(now.run.count(), 4U);
  EXPECT_EQ(now.run.sum, 4ms);
  EXPECT_EQ(now.run.counts[duration_histogram::bucket_of(1ms)], 4U);
  EXPECT_EQ(now.queue_wait.count(), 4U);
  EXPECT_EQ(now.queue_wait.sum, 6ms);
  for (const std::chrono::milliseconds wait : {0ms, 1ms, 2ms, 3ms}) {
    EXPECT_EQ(now.queue_wait.counts[duration_histogram::bucket_of(wait)], 1U);
  }
  const exposition page(metrics_text(now));
  EXPECT_EQ(page.value("tandem_run_seconds_sum", {{"runtime", now.name}}), 0.004);
  EXPECT_EQ(page.value("tandem_queue_wait_seconds_count", {{"runtime", now.name}}), 4);
}

TEST(metrics, one_task_in_sixteen_is_timed_if_so_asked_and_none_by_default) {
  constexpr std::uint64_t all = 4000;
  runtime_options options;
  options.clock = tandem::virtual_time(1, 2);
  {
    runtime rt(options);
    rt.spawn(spend(1ms)).wait();
    EXPECT_FALSE(rt.metrics().times_tasks);
    EXPECT_FALSE(exposition(metrics_text(rt.metrics())).has("tandem_run_seconds"));
  }
  options.timed_tasks_one_in = 16;
  runtime rt(options);
  for (std::uint64_t i = 0; i < all; ++i) rt.spawn(spend(1ms)).detach();
  rt.run_until_idle();
  const runtime_metrics now = rt.metrics();
  // A hash chooses: 250 are expected, with a deviation of 15.
  EXPECT_GT(now.run.count(), 100U);
  EXPECT_LT(now.run.count(), 500U);
  EXPECT_EQ(now.run.sum, now.run.count() * 1ms);
}

task<int> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

task<void> yield_often(int times) {
  for (int i = 0; i < times; ++i) co_await tandem::yield();
}

TEST(metrics, at_rest_the_sums_are_right) {
  runtime_options options;
  options.min_threads = 0;
  options.timed_tasks_one_in = 1;
  runtime rt(options);
  const runtime_metrics before = rt.metrics();
  EXPECT_EQ(before.workers.items, 0U);
  for (int i = 0; i < 10; ++i) rt.spawn(yield_often(3)).detach();
  const runtime_metrics queued = rt.metrics();
  EXPECT_EQ(queued.live_tasks, 10U);
  EXPECT_EQ(queued.workers.injection, 10U);
  EXPECT_EQ(queued.workers.queued, 10U);
  EXPECT_EQ(queued.workers.injected, 10U);
  rt.run_until_idle();
  const runtime_metrics after = rt.metrics();
  EXPECT_EQ(after.live_tasks, 0U);
  EXPECT_EQ(after.workers.queued, 0U);
  EXPECT_EQ(after.workers.items, 40U);
  EXPECT_EQ(after.run.count(), 40U);
  EXPECT_EQ(after.queue_wait.count(), 40U);
}

/// Adds up what the text says of threads and items, and compares it with the snapshot.
void expect_sound(const runtime_metrics& of) {
  const exposition page(metrics_text(of));
  const tandem::worker_pool_stats& pool = of.workers;
  const auto value = [&](const char* name) { return page.value(name, {{"runtime", of.name}}); };
  EXPECT_EQ(value("tandem_worker_threads"), pool.threads);
  EXPECT_EQ(page.sum("tandem_worker_threads_by_state"),
            pool.processing + pool.searching + pool.idle);
  EXPECT_EQ(page.sum("tandem_worker_queue_length"), static_cast<double>(pool.queued));
  EXPECT_EQ(value("tandem_items_total"), static_cast<double>(pool.items));
  EXPECT_EQ(value("tandem_live_tasks"), static_cast<double>(of.live_tasks));
  EXPECT_EQ(page.sum("tandem_pool_state"), 1);
  const std::uint64_t injections =
      std::accumulate(pool.injections.begin(), pool.injections.end(), std::uint64_t{0});
  EXPECT_EQ(page.sum("tandem_worker_thread_injections_total"), static_cast<double>(injections));
  if (of.times_tasks) {
    EXPECT_EQ(value("tandem_run_seconds_count"), static_cast<double>(of.run.count()));
  }
}

TEST(metrics, the_text_is_sound_idle_and_under_load) {
  runtime_options options = tandem::test::with_threads(2);
  options.max_threads = 6;
  options.name = "a \"name\" with \\ and \n in it";
  options.timed_tasks_one_in = 1;
  test_runtime rt(options);
  expect_sound(rt->metrics());
  std::atomic<bool> stop{false};
  std::atomic<int> calls{0};
  const auto load = [&]() -> task<void> {
    while (!stop) {
      EXPECT_EQ(co_await fib(10), 55);
      auto call = [] { return 1; };
      EXPECT_EQ(co_await tandem::blocking(call), 1);
      ++calls;
      co_await tandem::sleep_for(10us);
    }
  };
  std::vector<tandem::join_handle<void>> tasks;
  for (int i = 0; i < 8; ++i) tasks.push_back(rt->spawn(load()));
  std::uint64_t items = 0;
  for (int i = 0; i < 200; ++i) {
    const runtime_metrics now = rt->metrics();
    expect_sound(now);
    EXPECT_GE(now.workers.items, items) << "a counter went back";
    items = now.workers.items;
  }
  while (calls < 8) std::this_thread::yield();
  stop = true;
  for (tandem::join_handle<void>& each : tasks) each.wait();
  const exposition page(metrics_text(rt->metrics()));
  EXPECT_TRUE(page.has("tandem_blocking_threads"));
  EXPECT_GE(page.sum("tandem_blocking_calls_total"), 8);
}

TEST(metrics, threads_that_came_and_went_are_counted_by_reason_and_never_forgotten) {
  runtime_options options = tandem::test::with_threads(1);
  options.max_threads = 2;
  options.keep_alive = 1ms;
  test_runtime rt(options);
  constexpr std::uint64_t rounds = 210;  // the ring of decisions holds 200
  const auto of = [](const tandem::worker_pool_stats& pool, tandem::decision_reason why) {
    return pool.injections[static_cast<std::size_t>(why)];
  };
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    std::atomic<bool> other_ran{false};
    const auto other = [&]() -> task<void> {
      other_ran = true;
      co_return;
    };
    const auto block = [&]() -> task<void> {
      tandem::join_handle<void> handle = tandem::spawn(other());
      handle.detach();
      const tandem::blocking_region region;
      while (!other_ran) std::this_thread::yield();
      co_return;
    };
    rt->spawn(block()).wait();
    wait_until([&] { return rt.workers().stats().retirements >= i; });
  }
  const auto injections = [](const tandem::worker_pool_stats& pool) {
    return std::accumulate(pool.injections.begin(), pool.injections.end(), std::uint64_t{0});
  };
  // The controller may have moved the goal for reasons of its own, too.
  wait_until([&] {
    const tandem::worker_pool_stats pool = rt.workers().stats();
    return pool.threads == 1 && injections(pool) == pool.retirements + 1;
  });
  const tandem::worker_pool_stats pool = rt.workers().stats();
  EXPECT_GE(pool.retirements, rounds);
  EXPECT_GE(of(pool, tandem::decision_reason::work), 1U);
  EXPECT_GE(of(pool, tandem::decision_reason::blocking), 1U);
  EXPECT_LE(rt.workers().decisions().size(), 200U);
}

class page_views final : public tandem::service {
 public:
  explicit page_views(runtime& /*owner*/) {}
  std::string_view service_name() const noexcept override { return "page views"; }
  void stop() noexcept override {}
  void append_metrics(std::vector<metric_family>& out) const override {
    out.emplace_back("app_views_total", "Pages shown.", metric_kind::counter, 12,
                     std::vector<tandem::metric_label>{{"page", "start"}});
  }
};

TEST(metrics, a_service_adds_its_own_with_the_name_of_the_runtime) {
  runtime_options options;
  options.min_threads = 0;
  options.name = "shop";
  runtime rt(options);
  rt.use_service<page_views>();
  const exposition page(metrics_text(rt.metrics()));
  EXPECT_EQ(page.value("app_views_total", {{"runtime", "shop"}, {"page", "start"}}), 12);
}

}  // namespace
