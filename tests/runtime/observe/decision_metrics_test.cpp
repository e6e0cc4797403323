// decision_metrics_test.cpp: what a pool has decided is in the snapshot of its runtime, and counted in the text.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <tandem/runtime_metrics.hpp>

#include "exposition_parser.hpp"
#include "runtime/support/reconfigure_support.hpp"

namespace {

using namespace tandem::test;  // NOLINT
using tandem::decision_reason;
using tandem::growth_order;
using tandem::metrics_text;
using tandem::pool_action;
using tandem::runtime_metrics;

std::uint64_t count_of(const runtime_metrics& of, pool_action action, decision_reason reason) {
  return of.decided[static_cast<std::size_t>(action)][static_cast<std::size_t>(reason)];
}

TEST(metrics, the_snapshot_holds_the_last_decisions_and_how_often_each_was_taken) {
  tandem::runtime_options options = pool_of(4, 4, growth_order::demand);
  options.name = "decides";
  test_runtime rt(options);
  EXPECT_TRUE(rt->metrics().decisions.empty());
  EXPECT_EQ(exposition(metrics_text(rt->metrics())).has("tandem_worker_decisions_total"), true);
  EXPECT_EQ(rt.workers().prestart_all_core_threads(), 4U);
  rt.workers().reconfigure(threads_between(1, 1));
  wait_until([&] { return all_idle(rt.workers(), 1); });
  wait_until([&] {
    return count_of(rt->metrics(), pool_action::retire, decision_reason::outside_change) == 3;
  });
  const runtime_metrics now = rt->metrics();
  EXPECT_EQ(now.decisions, rt.workers().decisions());
  EXPECT_EQ(count_of(now, pool_action::inject, decision_reason::work), 4U);
  const exposition page(metrics_text(now));
  const auto told = [&](const char* action, const char* reason) {
    return page.value("tandem_worker_decisions_total",
                      {{"runtime", "decides"}, {"action", action}, {"reason", reason}});
  };
  EXPECT_EQ(page.type("tandem_worker_decisions_total"), "counter");
  EXPECT_EQ(told("inject", "work"), 4);
  EXPECT_EQ(told("retire", "outside_change"), 3);
  EXPECT_EQ(page.sum("tandem_worker_decisions_total"), static_cast<double>(now.decisions.size()));
}

TEST(metrics, decisions_are_counted_beyond_what_the_ring_remembers) {
  test_runtime rt(pool_of(1, 2, growth_order::demand));
  EXPECT_TRUE(rt.workers().prestart_core_thread());
  constexpr std::uint64_t rounds = 210;  // the ring holds 200
  for (std::uint64_t i = 1; i <= rounds; ++i) {
    rt.workers().reconfigure(threads_between(2, 2));
    EXPECT_TRUE(rt.workers().prestart_core_thread());
    rt.workers().reconfigure(threads_between(1, 1));
    wait_until([&] {
      return count_of(rt->metrics(), pool_action::retire, decision_reason::outside_change) == i;
    });
  }
  const runtime_metrics now = rt->metrics();
  EXPECT_EQ(now.decisions.size(), 200U);
  EXPECT_EQ(count_of(now, pool_action::inject, decision_reason::work), rounds + 1);
}

}  // namespace
