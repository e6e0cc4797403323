// submit_refusal_test.cpp: what a refusal says: of a submission, of an option, of a handler's failure.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <tandem/pool_change.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <utility>

#include "runtime/support/submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::policy_obstacle;
using tandem::queue_kind;
using tandem::rejection;
using tandem::runtime_options;
using tandem::saturation_policy;
using tandem::task;
using tandem::worker_pool;

/// What submit() says when it refuses.
template <class Submit>
std::pair<policy_obstacle, std::string> refusal_of(Submit submit) {
  try {
    submit();
  } catch (const tandem::rejected& refusal) {
    EXPECT_EQ(refusal.cause(), tandem::rejection_cause::full);
    return {refusal.obstacle(), refusal.what()};
  }
  return {policy_obstacle::none, "it was taken"};
}

TEST(submit, a_caller_that_cannot_run_it_hears_why) {
  full_pool pool(one_place(queue_kind::bounded, saturation_policy::caller_runs));
  worker_pool& workers = pool.rt.workers();
  const auto submits = [&] { workers.submit(count_up(pool.ran)).detach(); };

  // From a task of another runtime: its thread is wanted there.
  test_runtime elsewhere;
  std::pair<policy_obstacle, std::string> heard;
  const auto refused_there = [](auto* from, auto* to) -> task<void> {
    *to = refusal_of(*from);
    co_return;
  };
  elsewhere.run(refused_there(&submits, &heard));
  EXPECT_EQ(heard.first, policy_obstacle::other_executor);
  EXPECT_NE(heard.second.find("caller_runs: the caller is on a thread of another executor"),
            std::string::npos);

  // On top of seven others.
  std::function<task<void>(int)> below = [&](int left) -> task<void> {
    if (left == 0) {
      heard = refusal_of(submits);
    } else {
      workers.submit(below(left - 1)).detach();
    }
    co_return;
  };
  workers.submit(below(7)).detach();
  EXPECT_EQ(heard.first, policy_obstacle::too_deep);
  EXPECT_NE(heard.second.find("caller_runs: eight"), std::string::npos);
  EXPECT_EQ(pool.ran.load(), 0);

  runtime_options driven = one_place(queue_kind::bounded, saturation_policy::caller_runs);
  driven.min_threads = 0;
  test_runtime alone(driven);
  auto queued = alone.workers().submit(count_up(pool.ran));
  heard = refusal_of([&] { alone.workers().submit(count_up(pool.ran)).detach(); });
  EXPECT_EQ(heard.first, policy_obstacle::no_threads);
  EXPECT_NE(heard.second.find("caller_runs: the caller is outside a runtime without threads"),
            std::string::npos);
  queued.wait();
  EXPECT_EQ(pool.ran.load(), 1);
}

TEST(submit, a_caller_whose_thread_drives_timers_hears_why) {
  runtime_options options = one_place(queue_kind::bounded, saturation_policy::caller_runs);
  std::pair<policy_obstacle, std::string> heard;
  std::atomic<bool> done{false};
  full_pool pool(options);
  runtime_options starving = pool_of(1, 2, tandem::growth_order::demand);
  starving.adaptive.enabled = true;
  starving.adaptive.gate_period = 1ms;
  starving.adaptive.starvation_delay = 1h;
  starving.starvation_threshold = 1ms;
  starving.on_starvation = [&](const tandem::starvation_report&) {
    if (done) return;
    heard = refusal_of([&] { pool.rt.workers().submit(count_up(pool.ran)).detach(); });
    done = true;
  };
  gate closed;
  test_runtime reports(starving);
  auto blocked = reports->spawn(closed.block());
  wait_until([&] { return closed.inside() == 1; });
  auto waits = reports->spawn(count_up(pool.ran));
  wait_until([&] { return done.load(); });
  closed.open();
  blocked.wait();
  waits.wait();
  EXPECT_EQ(heard.first, policy_obstacle::drives_timers);
}

TEST(submit, a_handlers_choice_that_the_queue_cannot_follow_is_refused_and_says_so) {
  runtime_options options = one_place(queue_kind::priority, saturation_policy::handler);
  options.submissions.on_rejected = [](const rejection& what) {
    EXPECT_EQ(what.obstacle, policy_obstacle::none);
    return saturation_policy::discard_oldest;
  };
  full_pool pool(options);
  const auto heard = refusal_of([&] { pool.rt.workers().submit(count_up(pool.ran)).detach(); });
  EXPECT_EQ(heard.first, policy_obstacle::no_oldest);
  EXPECT_NE(heard.second.find("discard_oldest"), std::string::npos);
}

TEST(submit, an_answer_of_a_handler_that_is_no_policy_means_abort) {
  runtime_options options = one_place(queue_kind::bounded, saturation_policy::handler);
  options.submissions.on_rejected = [](const rejection&) {
    return static_cast<saturation_policy>(77);
  };
  full_pool pool(options);
  const auto heard = refusal_of([&] { pool.rt.workers().submit(count_up(pool.ran)).detach(); });
  EXPECT_EQ(heard.first, policy_obstacle::none);
  EXPECT_NE(heard.second.find("and full"), std::string::npos);
  EXPECT_EQ(heard.second.find("nothing else was possible"), std::string::npos);
}

template <class Enum>
Enum no_value() {
  return static_cast<Enum>(200);
}

TEST(submit, a_value_that_is_none_of_its_type_is_refused_by_name) {
  using options = runtime_options;
  const auto expect_refused = [](const char* option, const char* type, auto set) {
    const std::string text = refused_options(set);
    EXPECT_NE(text.find(option), std::string::npos) << text;
    EXPECT_NE(text.find(std::string("it is 200, which is no ") + type), std::string::npos) << text;
  };
  expect_refused("submissions.queue", "queue_kind",
                 [](options& o) { o.submissions.queue = no_value<tandem::queue_kind>(); });
  expect_refused("submissions.when_saturated", "saturation_policy",
                 [](options& o) { o.submissions.when_saturated = no_value<saturation_policy>(); });
  expect_refused("growth", "growth_order",
                 [](options& o) { o.growth = no_value<tandem::growth_order>(); });
  expect_refused("threads.placement", "cpu_placement",
                 [](options& o) { o.threads.placement = no_value<tandem::cpu_placement>(); });
  expect_refused("count", "completion_count",
                 [](options& o) { o.adaptive.count = no_value<tandem::completion_count>(); });
}

TEST(submit, a_change_to_a_value_that_is_none_of_its_type_is_refused_and_changes_nothing) {
  test_runtime rt(one_place(queue_kind::bounded, saturation_policy::discard));
  tandem::pool_change change;
  change.when_saturated = no_value<saturation_policy>();
  EXPECT_THROW(rt.workers().reconfigure(change), std::invalid_argument);
  change = tandem::pool_change();
  change.growth = no_value<tandem::growth_order>();
  EXPECT_THROW(rt.workers().reconfigure(change), std::invalid_argument);
  EXPECT_EQ(rt.workers().options().submissions.when_saturated, saturation_policy::discard);
  EXPECT_EQ(rt.workers().options().growth, tandem::growth_order::demand);
}

TEST(submit, a_time_that_is_none_is_refused_by_name) {
  using options = runtime_options;
  EXPECT_NE(refused_options([](options& o) { o.keep_alive = -1s; }).find("keep_alive"),
            std::string::npos);
  EXPECT_NE(refused_options([](options& o) {
              o.starvation_threshold = -1ns;
            }).find("starvation_threshold"),
            std::string::npos);
  EXPECT_NE(refused_options([](options& o) { o.adaptive.gate_period = -1ms; }).find("gate_period"),
            std::string::npos);
  EXPECT_NE(refused_options([](options& o) {
              o.adaptive.cpu_full = std::numeric_limits<double>::quiet_NaN();
            }).find("cpu_full"),
            std::string::npos);
}

TEST(submit, a_handler_of_suppressed_failures_that_throws_stops_nobody_and_both_are_written) {
  runtime_options options = pool_of(1, 1, tandem::growth_order::demand);
  options.threads.on_start = [](unsigned) { throw std::runtime_error("the first failure"); };
  options.on_suppressed_exception = [](const std::exception_ptr&) {
    throw std::runtime_error("the handler's own");
  };
  ::testing::internal::CaptureStderr();
  std::atomic<int> ran{0};
  {
    test_runtime rt(options);
    rt.run(count_up(ran));
  }
  const std::string written = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(ran.load(), 1);
  EXPECT_NE(written.find("on_suppressed_exception has thrown: the handler's own"),
            std::string::npos)
      << written;
  EXPECT_NE(written.find("the first failure"), std::string::npos) << written;
}

}  // namespace
