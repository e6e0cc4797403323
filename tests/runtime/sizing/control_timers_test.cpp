// control_timers_test.cpp: whom the timers of a control call, and when none of them does.
// SPDX-License-Identifier: MIT
#include "sizing/control_timers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "runtime/support/submit_support.hpp"  // wait_until
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;

/// What is called counts. A test is the only one that arms, so it needs no lock.
class counting final : public tandem::detail::timed_control {
 public:
  ~counting() {
    timers.end();
    rt.reset();  // the driver is not inside any of them afterwards
  }

  void sample_is_due() noexcept override { ++samples; }
  void gate_is_due() noexcept override { ++rounds; }
  void delay_is_over() noexcept override { ++delays; }
  tandem::timer_stats stats() { return tandem::detail::timers_of(**rt).stats(); }

  std::atomic<int> samples{0};
  std::atomic<int> rounds{0};
  std::atomic<int> delays{0};
  std::optional<tandem::test::test_runtime> rt{std::in_place, 1};
  tandem::detail::control_timers timers{*this, **rt};
};

TEST(control_timers, two_run_and_each_calls_what_is_its_own) {
  counting control;
  control.timers.run(1ms, 1ms);
  ASSERT_TRUE(control.timers.are_driven(std::chrono::steady_clock::now()));
  tandem::test::wait_until([&] { return control.samples == 1 && control.rounds == 1; });
  EXPECT_EQ(control.delays, 0);
  control.timers.delay.arm(1ms);
  tandem::test::wait_until([&] { return control.delays == 1; });
}

TEST(control_timers, what_it_has_called_has_to_say_that_it_is_over_before_a_timer_runs_again) {
  counting control;
  ASSERT_TRUE(control.timers.are_driven(std::chrono::steady_clock::now()));
  control.timers.run(1ms, 1h);
  tandem::test::wait_until([&] { return control.rounds == 1; });
  EXPECT_TRUE(control.timers.gate.waits());
  const auto started = control.stats().started;
  control.timers.run(1ms, 1h);
  EXPECT_EQ(control.stats().started, started);
  control.timers.gate.is_free();
  control.timers.run(1ms, 1h);
  tandem::test::wait_until([&] { return control.rounds == 2; });
}

TEST(control_timers, those_that_were_called_off_can_run_again) {
  counting control;
  ASSERT_TRUE(control.timers.are_driven(std::chrono::steady_clock::now()));
  control.timers.run(1h, 1h);
  const auto armed = control.stats().armed;
  control.timers.call_off();
  EXPECT_EQ(control.stats().armed, armed - 2);
  EXPECT_FALSE(control.timers.gate.waits());
  EXPECT_FALSE(control.timers.sample.waits());
  control.timers.run(1ms, 1ms);
  tandem::test::wait_until([&] { return control.samples == 1 && control.rounds == 1; });
}

TEST(control_timers, one_that_has_called_already_is_not_called_off) {
  counting control;
  ASSERT_TRUE(control.timers.are_driven(std::chrono::steady_clock::now()));
  control.timers.run(1ms, 1h);
  tandem::test::wait_until([&] { return control.rounds == 1; });
  control.timers.call_off();
  EXPECT_TRUE(control.timers.gate.waits()) << "what it has called is not over";
  EXPECT_FALSE(control.timers.sample.waits());
}

TEST(control_timers, after_the_end_none_is_armed_any_more) {
  counting control;
  control.timers.run(1h, 1h);
  const auto armed = control.stats().armed;
  control.timers.end();
  EXPECT_EQ(control.stats().armed, armed - 2);
  control.timers.sample.arm(1ms);
  control.timers.delay.arm(1ms);
  EXPECT_EQ(control.stats().armed, armed - 2);
}

}  // namespace
