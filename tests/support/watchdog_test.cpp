// watchdog_test.cpp: the watchdog ends what hangs, and nothing else.
// SPDX-License-Identifier: MIT
#include "watchdog.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

namespace {

using tandem::test::hang_report;

void hang() {
  for (;;) pause();
}

TEST(watchdog, ends_what_hangs_and_prints_every_report) {
  // A death test starts this executable again: that process reads the limit from the environment.
  setenv("TANDEM_TEST_LIMIT_SECONDS", "3", 1);
  setenv("TANDEM_STRESS_SECONDS", "0", 1);
  const hang_report first([](std::FILE* out) { std::fputs("[first report]\n", out); });
  EXPECT_DEATH(
      {
        const hang_report second([](std::FILE* out) { std::fputs("[second report]\n", out); });
        hang();
      },
      "hangs: not done after 3 s\n\\[first report\\]\n\\[second report\\]");
}

TEST(watchdog, forgets_a_report_whose_owner_is_gone) {
  setenv("TANDEM_TEST_LIMIT_SECONDS", "3", 1);
  setenv("TANDEM_STRESS_SECONDS", "0", 1);
  EXPECT_DEATH(
      {
        {
          const hang_report gone([](std::FILE* out) { std::fputs("[gone report]\n", out); });
        }
        const hang_report report([](std::FILE* out) { std::fputs("[live report]\n", out); });
        hang();
      },
      "not done after 3 s\n\\[live report\\]");
}

TEST(watchdog, gives_stress_tests_the_time_of_the_environment) {
  using namespace std::chrono_literals;
  unsetenv("TANDEM_STRESS_SECONDS");
  EXPECT_EQ(tandem::test::stress_time(250ms), 250ms);
  setenv("TANDEM_STRESS_SECONDS", "7", 1);
  EXPECT_EQ(tandem::test::stress_time(250ms), 7s);
}

}  // namespace
