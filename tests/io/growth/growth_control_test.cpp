// growth_control_test.cpp: looks at threads become decisions, and those become threads.
// SPDX-License-Identifier: MIT
#include "growth/growth_control.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tandem::decision_reason;
using tandem::pool_action;
using tandem::pool_decision;
using tandem::detail::decision_log;
using tandem::io::completion_growth;
using tandem::io::growth_control;
using tandem::io::growth_sight;
using tandem::io::growth_target;

/// Notes what is asked of it.
class recorded_target final : public growth_target {
 public:
  bool try_lock() noexcept override { return !is_locked; }
  void lock() override {}
  void unlock() noexcept override {}
  unsigned threads() const noexcept override { return count; }
  bool has_room() const noexcept override { return is_free; }
  void add_thread() override {
    ++asked;
    if (refuses) throw std::runtime_error("no descriptor is left");
    ++count;
  }
  void retire_thread(unsigned survivor) noexcept override {
    --count;
    survivors.push_back(survivor);
  }

  std::uint32_t residents() const noexcept override { return residents_now; }
  unsigned most_threads(std::chrono::steady_clock::time_point) noexcept override { return most; }

  unsigned most = 4;

  std::uint32_t residents_now = 0;
  unsigned count = 1;
  unsigned asked = 0;
  bool is_locked = false;
  bool is_free = true;
  bool refuses = false;
  std::vector<unsigned> survivors;
};

class growth_control_of_four : public testing::Test {
 protected:
  static completion_growth options() {
    completion_growth made;
    made.looks = 10;
    made.saturated_periods = 2;
    made.keep_alive = 1s;
    made.load_smoothing = 1;
    return made;
  }
  /// So many of the ten looks find thread i busy; at each it has ended ten segments more.
  void period(const std::vector<unsigned>& busy, std::chrono::nanoseconds keeps = 0ns) {
    for (unsigned look = 0; look < 10; ++look) {
      now_ += 10ms;
      segments_ += 10;
      for (unsigned i = 0; i < 4; ++i) {
        growth_sight sight;
        sight.thread = i;
        sight.busy = i < busy.size() && look < busy[i];
        sight.segments = i == 0 ? segments_ : 0;
        if (i == 0) sight.keeps = keeps;
        control_.see(sight);
      }
      control_.looked(now_);
    }
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const pool_decision& each : log_.copy()) all.push_back(to_string(each));
    return all;
  }

  growth_control::clock::time_point now_{1000s};
  std::uint64_t segments_ = 0;
  recorded_target target_;
  decision_log log_;
  growth_control control_{options(), target_, log_, 1, 4, now_};
};

TEST_F(growth_control_of_four,
       a_thread_that_was_never_found_asleep_gets_help_and_the_log_says_why) {
  period({10});
  EXPECT_EQ(log_.copy(), std::vector<pool_decision>());
  period({10});
  EXPECT_EQ(log_.copy(),
            (std::vector<pool_decision>{pool_decision(
                200ms, pool_action::inject, decision_reason::saturated, 1, 2, 2, 1000.0, 1.0)}));
  EXPECT_EQ(target_.count, 2U);
}

TEST_F(growth_control_of_four, one_that_was_found_asleep_often_enough_gets_none) {
  for (int i = 0; i < 50; ++i) period({8});
  EXPECT_EQ(target_.asked, 0U);
}

TEST_F(growth_control_of_four, only_a_task_that_lasts_is_a_stall) {
  period({1}, 49ms);
  EXPECT_EQ(target_.asked, 0U);
  period({1}, 50ms);
  EXPECT_EQ(lines(), (std::vector<std::string>{"inject +1 n=2 reason=stalled t=0.20s"}));
}

TEST_F(growth_control_of_four, the_least_busy_one_takes_over_what_the_last_one_has) {
  target_.count = 4;
  while (target_.survivors.empty()) period({3, 1, 2, 3});
  EXPECT_EQ(target_.survivors, (std::vector<unsigned>{1}));
  EXPECT_EQ(lines(), (std::vector<std::string>{"retire -1 n=3 reason=idle t=1.10s"}));
}

TEST_F(growth_control_of_four, nothing_is_decided_while_somebody_else_changes_the_number) {
  target_.is_locked = true;
  for (int i = 0; i < 10; ++i) period({10});
  EXPECT_EQ(target_.asked, 0U);
  target_.is_locked = false;
  for (int i = 0; i < 2; ++i) period({10});
  EXPECT_EQ(target_.count, 2U);
}

TEST_F(growth_control_of_four, a_thread_that_still_retires_is_not_waited_for) {
  target_.is_free = false;
  for (int i = 0; i < 10; ++i) period({10});
  EXPECT_EQ(target_.asked, 0U);
}

TEST_F(growth_control_of_four, what_the_system_refuses_is_told_and_tried_again_after_keep_alive) {
  target_.refuses = true;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 11; ++i) period({10});
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(
      told.find("completion thread 1 is needed, but cannot be started: no descriptor is left"),
      std::string::npos)
      << told;
  EXPECT_EQ(target_.asked, 1U);
  EXPECT_EQ(lines(), std::vector<std::string>());
  target_.refuses = false;
  period({10});
  EXPECT_EQ(target_.count, 2U);
}

TEST_F(growth_control_of_four, after_a_rest_what_nobody_needed_retires) {
  period({10});
  period({10});
  period({0, 0});
  EXPECT_TRUE(control_.idles(now_));
  now_ = control_.next_retirement();
  EXPECT_FALSE(control_.idles(now_));
  EXPECT_EQ(target_.count, 1U);
  EXPECT_TRUE(control_.idles(now_));
  EXPECT_EQ(control_.next_retirement(), growth_control::clock::time_point::max());
}

TEST_F(growth_control_of_four, who_changed_the_number_unseen_is_noticed_before_a_rest) {
  EXPECT_TRUE(control_.idles(now_));
  EXPECT_EQ(control_.next_retirement(), growth_control::clock::time_point::max());
  target_.is_locked = true;
  EXPECT_FALSE(control_.idles(now_));
  target_.is_locked = false;
  target_.count = 3;
  EXPECT_TRUE(control_.idles(now_));
  EXPECT_EQ(control_.next_retirement(), now_ + 1s);
}

TEST_F(growth_control_of_four, it_wants_to_look_as_often_as_it_was_told) {
  EXPECT_EQ(control_.interval(), 10ms);
  period({0});
  EXPECT_FALSE(control_.is_due(now_ + 9ms));
  EXPECT_TRUE(control_.is_due(now_ + 10ms));
}

TEST_F(growth_control_of_four, connections_bring_a_thread_each_up_to_the_most) {
  target_.residents_now = 3;
  EXPECT_TRUE(control_.serve_arrivals(3, now_));
  EXPECT_EQ(target_.count, 3U);
  target_.residents_now = 10;
  EXPECT_TRUE(control_.serve_arrivals(7, now_));
  EXPECT_EQ(target_.count, 4U);
  for (const pool_decision& each : log_.copy()) {
    EXPECT_EQ(each.reason, decision_reason::connections);
  }
}

TEST_F(growth_control_of_four, of_those_that_were_there_before_none_brings_a_thread_again) {
  target_.residents_now = 100;
  EXPECT_TRUE(control_.serve_arrivals(1, now_));
  EXPECT_EQ(target_.count, 2U);
}

TEST_F(growth_control_of_four, where_there_are_as_many_threads_as_connections_none_comes) {
  target_.residents_now = 1;
  EXPECT_TRUE(control_.serve_arrivals(5, now_));
  EXPECT_EQ(target_.asked, 0U);
}

TEST_F(growth_control_of_four, while_somebody_else_changes_the_number_it_is_asked_again) {
  target_.residents_now = 2;
  target_.is_locked = true;
  EXPECT_FALSE(control_.serve_arrivals(1, now_));
  target_.is_locked = false;
  EXPECT_TRUE(control_.serve_arrivals(1, now_));
  EXPECT_EQ(target_.count, 2U);
}

TEST_F(growth_control_of_four, while_a_thread_is_refused_nobody_is_asked_and_then_it_comes) {
  target_.residents_now = 4;
  target_.refuses = true;
  EXPECT_TRUE(control_.serve_arrivals(3, now_));
  EXPECT_EQ(target_.asked, 1U);
  EXPECT_FALSE(control_.wants_arrivals());
  period({0});
  EXPECT_EQ(target_.asked, 1U);  // not before keep_alive is over
  target_.refuses = false;
  for (int i = 0; i < 12; ++i) period({10, 10, 10, 10});
  EXPECT_EQ(target_.count, 4U);
  EXPECT_TRUE(control_.wants_arrivals());
}

TEST_F(growth_control_of_four, connections_for_which_there_is_no_room_are_remembered) {
  target_.residents_now = 2;
  target_.is_free = false;
  EXPECT_TRUE(control_.serve_arrivals(1, now_));
  EXPECT_EQ(target_.asked, 0U);
  EXPECT_FALSE(control_.wants_arrivals());
  target_.is_free = true;
  period({0});
  EXPECT_EQ(target_.count, 2U);
  EXPECT_TRUE(control_.wants_arrivals());
}

TEST_F(growth_control_of_four, where_there_may_be_fewer_the_others_retire_one_a_period) {
  target_.count = 4;
  period({10, 10, 10, 10});
  target_.most = 2;
  period({10, 10, 10, 10});
  EXPECT_EQ(target_.count, 3U);
  period({10, 10, 10, 10});
  period({10, 10, 10, 10});
  period({10, 10, 10, 10});
  EXPECT_EQ(target_.count, 2U);
  for (const pool_decision& each : log_.copy()) {
    EXPECT_EQ(each.action, pool_action::retire);
    EXPECT_EQ(each.reason, decision_reason::outside_change);
  }
  target_.most = 3;
  period({10, 10, 10, 10});
  period({10, 10, 10, 10});
  EXPECT_EQ(target_.count, 3U);
}

}  // namespace
