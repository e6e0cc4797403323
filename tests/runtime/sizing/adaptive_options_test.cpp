// adaptive_options_test.cpp: the controller's options, and how decisions read.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <tandem/adaptive_options.hpp>
#include <tandem/pool_decision.hpp>

namespace {

using namespace std::chrono_literals;
using tandem::adaptive_options;
using tandem::decision_reason;
using tandem::pool_action;
using tandem::pool_decision;

TEST(adaptive_options, the_defaults_are_valid) { EXPECT_NO_THROW(adaptive_options().validate()); }

TEST(adaptive_options, the_example_of_the_header_is_valid) {
  adaptive_options options;
  options.starvation_delay = std::chrono::milliseconds(200);
  options.max_change_per_second = 8;
  EXPECT_NO_THROW(options.validate());
}

TEST(adaptive_options, a_bool_turns_the_controller_on_and_off_and_nothing_else_converts) {
  adaptive_options options = false;
  EXPECT_FALSE(options.enabled);
  options = true;
  EXPECT_TRUE(options.enabled);
  EXPECT_FALSE((std::is_convertible_v<int, adaptive_options>));
  EXPECT_FALSE((std::is_convertible_v<const char*, adaptive_options>));
}

TEST(adaptive_options, each_option_out_of_its_range_is_refused_by_name) {
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  class refused {
   public:
    std::string name;
    std::function<void(adaptive_options&)> set;
  };
  const std::vector<refused> all{
      {"min_sample_interval", [](adaptive_options& made) { made.min_sample_interval = 0ms; }},
      {"max_sample_interval", [](adaptive_options& made) { made.max_sample_interval = 9ms; }},
      {"max_sample_interval", [](adaptive_options& made) { made.max_sample_interval = 25h; }},
      {"max_sample_error", [](adaptive_options& made) { made.max_sample_error = 0; }},
      {"max_sample_error", [](adaptive_options& made) { made.max_sample_error = not_a_number; }},
      {"coarse_sample_retry", [](adaptive_options& made) { made.coarse_sample_retry = -1ms; }},
      {"wave_period_samples", [](adaptive_options& made) { made.wave_period_samples = 2; }},
      {"wave_period_samples", [](adaptive_options& made) { made.wave_period_samples = 5; }},
      {"wave_period_samples", [](adaptive_options& made) { made.wave_period_samples = 66; }},
      {"wave_history", [](adaptive_options& made) { made.wave_history = 1; }},
      {"wave_history", [](adaptive_options& made) { made.wave_history = 65; }},
      {"max_wave_magnitude", [](adaptive_options& made) { made.max_wave_magnitude = 0; }},
      {"wave_magnitude_multiplier",
       [](adaptive_options& made) { made.wave_magnitude_multiplier = -1; }},
      {"wave_magnitude_multiplier",
       [](adaptive_options& made) { made.wave_magnitude_multiplier = infinite; }},
      {"target_throughput_ratio",
       [](adaptive_options& made) { made.target_throughput_ratio = 1.01; }},
      {"target_throughput_ratio",
       [](adaptive_options& made) { made.target_throughput_ratio = not_a_number; }},
      {"target_signal_to_noise", [](adaptive_options& made) { made.target_signal_to_noise = 0; }},
      {"error_smoothing", [](adaptive_options& made) { made.error_smoothing = 0; }},
      {"error_smoothing", [](adaptive_options& made) { made.error_smoothing = 1.5; }},
      {"gain_exponent", [](adaptive_options& made) { made.gain_exponent = 0.9; }},
      {"max_change_per_second", [](adaptive_options& made) { made.max_change_per_second = 0; }},
      {"max_change_per_second",
       [](adaptive_options& made) { made.max_change_per_second = infinite; }},
      {"max_change_per_sample", [](adaptive_options& made) { made.max_change_per_sample = -3; }},
      {"cpu_full", [](adaptive_options& made) { made.cpu_full = 95; }},
      {"floor_back_off", [](adaptive_options& made) { made.floor_back_off = 0.5; }},
      {"gate_period", [](adaptive_options& made) { made.gate_period = 0ns; }},
      {"gate_idle_rounds", [](adaptive_options& made) { made.gate_idle_rounds = 0; }},
      {"cpu_sample_interval", [](adaptive_options& made) { made.cpu_sample_interval = 0ns; }},
      {"starvation_delay", [](adaptive_options& made) { made.starvation_delay = 0ns; }},
      {"starvation_cpu_busy", [](adaptive_options& made) { made.starvation_cpu_busy = -0.1; }},
      {"starvation_busy_delay_per_thread",
       [](adaptive_options& made) { made.starvation_busy_delay_per_thread = -1s; }},
      {"blocking_at_once_per_cpu",
       [](adaptive_options& made) { made.blocking_at_once_per_cpu = 1'000'001; }},
      {"blocking_per_step_per_cpu",
       [](adaptive_options& made) { made.blocking_per_step_per_cpu = 0; }},
      {"blocking_delay_step", [](adaptive_options& made) { made.blocking_delay_step = 0ns; }},
      {"blocking_max_delay", [](adaptive_options& made) { made.blocking_max_delay = 24ms; }},
  };
  for (const refused& one : all) {
    adaptive_options options;
    one.set(options);
    try {
      options.validate();
      ADD_FAILURE() << one.name << " was accepted";
    } catch (const std::invalid_argument& refusal) {
      EXPECT_EQ(std::string(refusal.what()).rfind("adaptive_options::" + one.name + " is ", 0), 0U)
          << refusal.what();
    }
  }
}

TEST(adaptive_options, what_is_counted_has_a_name) {
  EXPECT_STREQ(to_string(tandem::completion_count::segments), "segments");
  EXPECT_STREQ(to_string(tandem::completion_count::tasks), "tasks");
}

TEST(pool_decision, an_injection_and_a_retirement_read_as_one_line) {
  EXPECT_EQ(to_string(pool_decision(1520ms, pool_action::inject, decision_reason::starvation, 4, 5,
                                    5, 0, 0.1)),
            "inject +1 n=5 reason=starvation t=1.52s");
  EXPECT_EQ(to_string(pool_decision(21s, pool_action::retire, decision_reason::keep_alive, 2, 2, 4,
                                    0, 0)),
            "retire -1 n=4 reason=keep_alive t=21.00s");
}

TEST(pool_decision, a_change_of_the_goal_names_both) {
  EXPECT_EQ(to_string(pool_decision(6'308ms, pool_action::change_goal, decision_reason::climb, 4, 7,
                                    5, 120, 0.5)),
            "goal 4->7 n=5 reason=climb t=6.31s");
}

TEST(pool_decision, every_reason_and_every_action_has_a_name_of_its_own) {
  std::vector<std::string> names;
  for (int value = 0; value <= static_cast<int>(decision_reason::idle); ++value) {
    names.emplace_back(to_string(static_cast<decision_reason>(value)));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"work", "queue_full", "warm_up", "climb", "hold",
                                             "starvation", "blocking", "outside_change",
                                             "keep_alive", "saturated", "stalled", "idle"}));
  EXPECT_STREQ(to_string(pool_action::inject), "inject");
  EXPECT_STREQ(to_string(pool_action::retire), "retire");
  EXPECT_STREQ(to_string(pool_action::change_goal), "goal");
}

TEST(pool_decision, an_empty_one_equals_only_its_like) {
  pool_decision decision;
  EXPECT_EQ(decision, pool_decision());
  decision.when = 1ns;
  EXPECT_NE(decision, pool_decision());
}

}  // namespace
