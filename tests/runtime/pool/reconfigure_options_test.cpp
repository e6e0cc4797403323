// reconfigure_options_test.cpp: policies, orders and the controller of a running pool change, or a change is refused.
// SPDX-License-Identifier: MIT
#include <tandem/pool_change.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <tandem/blocking_region.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <utility>
#include <vector>

#include "runtime/support/reconfigure_support.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::growth_order;
using tandem::join_handle;
using tandem::pool_change;
using tandem::pool_options;
using tandem::queue_kind;
using tandem::runtime_options;
using tandem::saturation_policy;
using tandem::task;
using tandem::worker_pool;

TEST(reconfigure, max_below_core_is_refused_by_name_and_changes_nothing) {
  test_runtime rt(pool_of(2, 4, growth_order::queue_first));
  pool_change change;
  change.keep_alive = 5s;
  change.max_threads = 1;
  EXPECT_EQ(refusal(rt.workers(), change),
            "worker_pool::reconfigure: max_threads is 1, below min_threads (2)");
  EXPECT_EQ(rt.workers().options().keep_alive, 1h);
  EXPECT_EQ(rt.workers().stats().max_threads, 4U);
  change = pool_change();
  change.min_threads = 5;
  EXPECT_NE(refusal(rt.workers(), change).find("min_threads is 5, above max_threads (4)"),
            std::string::npos);
  EXPECT_EQ(refusal(rt.workers(), threads_between(5, 6)), "");
}

TEST(reconfigure, what_cannot_be_is_refused_by_name) {
  test_runtime rt(pool_of(2, 4, growth_order::demand));
  const auto refused = [&](auto set) {
    pool_change change;
    set(change);
    return refusal(rt.workers(), change);
  };
  const auto names = [](const std::string& text, const char* option) {
    return text.find(option) != std::string::npos;
  };
  EXPECT_TRUE(names(refused([](auto& c) { c.min_threads = 0; }), "min_threads is 0"));
  EXPECT_TRUE(names(refused([](auto& c) { c.max_threads = 0; }), "max_threads is 0"));
  EXPECT_TRUE(names(refused([](auto& c) { c.max_threads = 5000; }), "max_threads is 5000"));
  EXPECT_TRUE(names(refused([](auto& c) { c.min_threads = 5000; }), "min_threads"));
  EXPECT_TRUE(names(refused([](auto& c) { c.keep_alive = 0s; }), "keep_alive"));
  EXPECT_TRUE(names(refused([](auto& c) {
                      c.keep_alive = 0s;
                      c.allow_core_timeout = true;
                    }),
                    "allow_core_timeout"));
  EXPECT_TRUE(
      names(refused([](auto& c) { c.starvation_threshold = -1s; }), "starvation_threshold"));
  EXPECT_TRUE(names(refused([](auto& c) {
                      tandem::adaptive_options constants;
                      constants.wave_history = 0;
                      c.adaptive = constants;
                    }),
                    "wave_history"));
  EXPECT_TRUE(names(refused([](auto& c) { c.when_saturated = saturation_policy::handler; }),
                    "on_rejected"));
  std::atomic<int> ran{0};
  rt.run(count_up(ran));
  EXPECT_EQ(ran.load(), 1);
}

TEST(reconfigure, core_threads_may_be_let_go_and_kept_again) {
  test_runtime rt(pool_of(2, 2, growth_order::demand));
  EXPECT_EQ(rt.workers().prestart_all_core_threads(), 2U);
  wait_until([&] { return all_idle(rt.workers(), 2); });
  pool_change change;
  change.allow_core_timeout = true;
  change.keep_alive = 1ms;
  rt.workers().reconfigure(change);
  wait_until([&] { return rt.workers().stats().threads == 0; });
  change = pool_change();
  change.allow_core_timeout = false;
  rt.workers().reconfigure(change);
  EXPECT_EQ(rt.workers().prestart_all_core_threads(), 2U);
  wait_until([&] { return all_idle(rt.workers(), 2); });
}

TEST(reconfigure, the_policy_and_its_handler_change_for_the_next_submission) {
  gate closed;
  test_runtime rt(one_place(queue_kind::bounded, saturation_policy::abort));
  auto handles = block(rt.workers(), closed, 2);
  wait_until([&] { return closed.inside() == 1; });
  while (rt.workers().stats().submissions == 0)
    handles.push_back(rt.workers().submit(closed.block()));
  std::atomic<int> ran{0};
  EXPECT_THROW(rt.workers().submit(count_up(ran)).detach(), tandem::rejected);

  pool_change change;
  change.when_saturated = saturation_policy::discard;
  rt.workers().reconfigure(change);
  EXPECT_THROW(rt.workers().submit(count_up(ran)).wait(), tandem::operation_cancelled);

  int asked = 0;
  change.when_saturated = saturation_policy::handler;
  change.on_rejected = [&](const tandem::rejection&) {
    ++asked;
    return saturation_policy::caller_runs;
  };
  rt.workers().reconfigure(change);
  rt.workers().submit(count_up(ran)).wait();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(ran.load(), 1);

  change = pool_change();
  change.when_saturated = saturation_policy::abort;
  rt.workers().reconfigure(change);
  EXPECT_FALSE(rt.workers().options().submissions.on_rejected);
  EXPECT_THROW(rt.workers().submit(count_up(ran)).detach(), tandem::rejected);
  finish(closed, handles);
}

TEST(reconfigure, a_rejection_handler_may_change_the_pool_that_asks_it) {
  gate closed;
  runtime_options options = bounded(1, 1, growth_order::queue_first, 1);
  options.submissions.when_saturated = saturation_policy::handler;
  worker_pool* pool = nullptr;
  options.submissions.on_rejected = [&](const tandem::rejection& what) {
    pool->reconfigure(threads_between(1, what.max_threads + 1));
    return saturation_policy::discard;
  };
  test_runtime rt(options);
  pool = &rt.workers();
  auto handles = block(*pool, closed, 2);
  pool->submit(closed.block()).detach();
  EXPECT_EQ(pool->options().max_threads, 2U);
  finish(closed, handles);
}

TEST(reconfigure, orders_of_growth_change_into_each_other_and_every_task_runs) {
  const std::vector<growth_order> orders = {growth_order::demand, growth_order::queue_first,
                                            growth_order::threads_first};
  for (const growth_order from : orders) {
    for (const growth_order to : orders) {
      gate closed;
      test_runtime rt(bounded(1, 3, from, 100));
      auto handles = block(rt.workers(), closed, 10);
      pool_change change;
      change.growth = to;
      rt.workers().reconfigure(change);
      if (to == growth_order::threads_first) {
        wait_until([&] { return closed.inside() == 3; });
      }
      for (auto& each : block(rt.workers(), closed, 10)) handles.push_back(std::move(each));
      finish(closed, handles);
      EXPECT_EQ(closed.passed(), 20);
      EXPECT_LE(rt.workers().stats().threads, 3U);
    }
  }
}

TEST(reconfigure, a_fixed_pool_becomes_adaptive_and_workers_that_block_are_joined_by_more) {
  gate closed;
  test_runtime rt(pool_of(2, 2, growth_order::demand));
  auto handles = block(rt.workers(), closed, 6);
  wait_until([&] { return closed.inside() == 2; });
  pool_change change = threads_between(2, 16);
  change.adaptive = adaptive(2, 16).adaptive;
  change.log_starvation = false;
  rt.workers().reconfigure(change);
  wait_until([&] { return closed.inside() == 6; });  // by the gate alone
  const auto decisions = rt.workers().decisions();
  EXPECT_TRUE(std::any_of(decisions.begin(), decisions.end(), [](const auto& each) {
    return each.reason == tandem::decision_reason::starvation;
  }));
  finish(closed, handles);
}

TEST(reconfigure, an_adaptive_pool_becomes_fixed_and_nobody_joins_those_that_block) {
  gate closed;
  test_runtime rt(adaptive(2, 16));
  auto handles = block(rt.workers(), closed, 6);
  wait_until([&] { return closed.inside() == 6; });
  pool_change change;
  change.adaptive = tandem::adaptive_options(false);
  rt.workers().reconfigure(change);
  EXPECT_EQ(rt.workers().stats().max_threads, 2U);
  EXPECT_EQ(rt.workers().stats().goal, 2U);
  finish(closed, handles);
  wait_until([&] { return all_idle(rt.workers(), 2); });
  rt.run([]() -> task<void> {
    const tandem::blocking_region region;  // asks for nobody any more
    co_return;
  }());
  for (const auto& each : rt.workers().decisions()) {
    EXPECT_NE(each.reason, tandem::decision_reason::blocking);
  }
  EXPECT_EQ(rt.workers().stats().blocked, 0U);
  change.adaptive = adaptive(2, 16).adaptive;
  rt.workers().reconfigure(change);
  gate again;
  auto more = block(rt.workers(), again, 6);
  wait_until([&] { return again.inside() == 6; });
  finish(again, more);
}

TEST(reconfigure, the_goal_of_an_adaptive_pool_stays_within_its_new_limits) {
  test_runtime rt(adaptive(2, 16));
  gate closed;
  auto handles = block(rt.workers(), closed, 8);
  wait_until([&] { return closed.inside() == 8; });
  EXPECT_GE(rt.workers().stats().goal, 8U);
  rt.workers().reconfigure(threads_between(1, 3));
  EXPECT_LE(rt.workers().stats().goal, 3U);
  rt.workers().reconfigure(threads_between(12, 20));
  EXPECT_GE(rt.workers().stats().goal, 12U);
  EXPECT_LE(rt.workers().stats().goal, 20U);
  finish(closed, handles);
}

TEST(reconfigure, regions_that_were_entered_before_a_change_are_left_after_it) {
  test_runtime rt(adaptive(1, 8));
  std::atomic<int> inside{0};
  tandem::test::flag leave;
  const auto region = [](std::atomic<int>& count, tandem::test::flag& open) -> task<void> {
    const tandem::blocking_region here;
    ++count;
    open.wait(false);
    co_return;
  };
  std::vector<join_handle<void>> handles;
  for (int i = 0; i < 3; ++i) handles.push_back(rt->spawn(region(inside, leave)));
  wait_until([&] { return inside.load() == 3; });
  EXPECT_EQ(rt.workers().stats().blocked, 3U);
  pool_change off;
  off.adaptive = tandem::adaptive_options(false);
  rt.workers().reconfigure(off);
  pool_change on;
  on.adaptive = adaptive(1, 8).adaptive;
  rt.workers().reconfigure(on);
  EXPECT_EQ(rt.workers().stats().blocked, 3U);
  leave = true;
  for (auto& each : handles) each.wait();
  EXPECT_EQ(rt.workers().stats().blocked, 0U);
}

TEST(reconfigure, a_task_of_the_pool_may_change_it) {
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  gate closed;
  auto handles = block(rt.workers(), closed, 0);
  rt.run([](worker_pool& pool, gate& here, std::vector<join_handle<void>>& out) -> task<void> {
    for (int i = 0; i < 3; ++i) out.push_back(pool.submit(here.block()));
    pool.reconfigure(threads_between(3, 3));
    co_return;
  }(rt.workers(), closed, handles));
  wait_until([&] { return closed.inside() == 3; });
  finish(closed, handles);
}

TEST(reconfigure, a_starvation_handler_may_raise_max) {
  runtime_options options = adaptive(1, 2);
  options.starvation_threshold = 5ms;
  options.log_starvation = false;
  std::atomic<worker_pool*> pool{nullptr};
  options.on_starvation = [&](const tandem::starvation_report& report) {
    if (worker_pool* const told = pool.load()) {
      told->reconfigure(threads_between(1, report.max_threads + 2));
    }
  };
  test_runtime rt(options);
  pool = &rt.workers();
  gate closed;
  auto handles = block(rt.workers(), closed, 6);
  wait_until([&] { return closed.inside() == 6; });
  finish(closed, handles);
}

TEST(reconfigure, a_runtime_without_threads_refuses_all_but_policy_and_handler) {
  runtime_options options = with_threads(0);
  options.submissions.queue = queue_kind::bounded;
  options.submissions.capacity = 1;
  test_runtime rt(options);
  EXPECT_THROW(rt.workers().reconfigure(threads_between(1, 2)), std::logic_error);
  pool_change change;
  change.keep_alive = 1s;
  EXPECT_THROW(rt.workers().reconfigure(change), std::logic_error);
  change = pool_change();
  change.when_saturated = saturation_policy::discard;
  rt.workers().reconfigure(change);
  std::atomic<int> ran{0};
  auto taken = rt.workers().submit(count_up(ran));
  auto dropped = rt.workers().submit(count_up(ran));
  EXPECT_THROW(dropped.wait(), tandem::operation_cancelled);
  taken.wait();
  EXPECT_EQ(ran.load(), 1);

  runtime_options simulated;
  simulated.clock = tandem::virtual_time(1, 2);
  test_runtime other(simulated);
  EXPECT_THROW(other.workers().reconfigure(threads_between(1, 2)), std::logic_error);
}

TEST(reconfigure, a_pool_that_has_shut_down_takes_a_change_and_starts_nobody) {
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  rt.workers().shutdown();
  EXPECT_TRUE(rt.workers().await_termination(1h));
  rt.workers().reconfigure(threads_between(4, 8));
  EXPECT_EQ(rt.workers().options().max_threads, 8U);
  EXPECT_EQ(rt.workers().stats().threads, 0U);
  rt->shutdown();
  rt.workers().reconfigure(threads_between(2, 4));
  EXPECT_EQ(rt.workers().options().max_threads, 4U);
}

TEST(reconfigure, options_tells_what_is_in_force) {
  test_runtime rt(pool_of(2, 4, growth_order::queue_first));
  pool_change change = threads_between(3, 9);
  change.keep_alive = 7s;
  change.growth = growth_order::threads_first;
  rt.workers().reconfigure(change);
  const pool_options now = rt.workers().options();
  EXPECT_EQ(now.min_threads, 3U);
  EXPECT_EQ(now.max_threads, 9U);
  EXPECT_EQ(now.keep_alive, 7s);
  EXPECT_EQ(now.growth, growth_order::threads_first);
  EXPECT_FALSE(now.adaptive.enabled);
  EXPECT_EQ(rt->options().max_threads, 4U);  // as it was made
}

}  // namespace
