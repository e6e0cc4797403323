// watchdog_test.cpp: the watchdog ends what hangs, and nothing else.
// SPDX-License-Identifier: MIT
#include "watchdog.hpp"

#include <gtest/gtest.h>

#include "system.hpp"

namespace {

using tandem::test::hang_report;
using tandem::test::set_variable;
using tandem::test::unset_variable;
using tandem::test::wait_forever;

TEST(watchdog, ends_what_hangs_and_prints_every_report) {
  // A death test starts this executable again: that process reads the limit from the environment.
  set_variable("TANDEM_TEST_LIMIT_SECONDS", "3");
  set_variable("TANDEM_STRESS_SECONDS", "0");
  const hang_report first([](std::FILE* out) { std::fputs("[first report]\n", out); });
  EXPECT_DEATH(
      {
        const hang_report second([](std::FILE* out) { std::fputs("[second report]\n", out); });
        wait_forever();
      },
      "hangs: not done after 3 s\n\\[first report\\]\n\\[second report\\]");
}

TEST(watchdog, forgets_a_report_whose_owner_is_gone) {
  set_variable("TANDEM_TEST_LIMIT_SECONDS", "3");
  set_variable("TANDEM_STRESS_SECONDS", "0");
  EXPECT_DEATH(
      {
        {
          const hang_report gone([](std::FILE* out) { std::fputs("[gone report]\n", out); });
        }
        const hang_report report([](std::FILE* out) { std::fputs("[live report]\n", out); });
        wait_forever();
      },
      "not done after 3 s\n\\[live report\\]");
}

TEST(watchdog, gives_stress_tests_the_time_of_the_environment) {
  using namespace std::chrono_literals;
  unset_variable("TANDEM_STRESS_SECONDS");
  EXPECT_EQ(tandem::test::stress_time(250ms), 250ms);
  set_variable("TANDEM_STRESS_SECONDS", "7");
  EXPECT_EQ(tandem::test::stress_time(250ms), 7s);
}

}  // namespace
