// sizing_test.cpp: how many threads a load needs, beside how many CPUs there are for it.
// SPDX-License-Identifier: MIT
#include <tandem/sizing.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>

#include <tandem/cpu_count.hpp>
#include <tandem/runtime.hpp>

#include "runtime/sizing/told_cpus.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::recommended_threads;

TEST(sizing, compute_takes_one_thread_more_than_there_are_cpus) {
  EXPECT_EQ(recommended_threads(), tandem::usable_cpus() + 1);
}

TEST(sizing, a_load_that_waits_takes_cpus_times_utilisation_times_one_and_wait_by_compute) {
  EXPECT_EQ(recommended_threads(100ms, 10ms, 1, 2), 22U);
  EXPECT_EQ(recommended_threads(100ms, 10ms, 0.5, 2), 11U);
  EXPECT_EQ(recommended_threads(0ms, 10ms, 1, 8), 8U);
  EXPECT_EQ(recommended_threads(90ms, 10ms, 0.7, 1), 7U);  // not 8, though 10 x 0.7 is above 7
  EXPECT_EQ(recommended_threads(1ms, 3ms, 1, 2), 3U);      // 2.67
  EXPECT_EQ(recommended_threads(9ms, 1ms), 10 * tandem::usable_cpus());
}

TEST(sizing, it_is_at_least_one_and_at_most_what_a_number_holds) {
  EXPECT_EQ(recommended_threads(0ms, 10ms, 0.001, 1), 1U);
  EXPECT_EQ(recommended_threads(std::chrono::hours(1'000'000), 1ns, 1, 1024),
            std::numeric_limits<unsigned>::max());
}

TEST(sizing, what_makes_no_sense_is_refused_by_name) {
  const auto refused = [](std::chrono::nanoseconds wait, std::chrono::nanoseconds compute,
                          double utilisation, unsigned cpus) -> std::string {
    try {
      recommended_threads(wait, compute, utilisation, cpus);
    } catch (const std::invalid_argument& failure) {
      return failure.what();
    }
    return "";
  };
  EXPECT_NE(refused(-1ns, 1ms, 1, 1).find("wait is -1 ns"), std::string::npos);
  EXPECT_NE(refused(1ms, 0ms, 1, 1).find("compute is 0 ns"), std::string::npos);
  EXPECT_NE(refused(1ms, 1ms, 0, 1).find("utilisation is 0"), std::string::npos);
  EXPECT_NE(refused(1ms, 1ms, 1.5, 1).find("utilisation is 1.5"), std::string::npos);
  EXPECT_NE(refused(1ms, 1ms, std::numeric_limits<double>::quiet_NaN(), 1).find("utilisation"),
            std::string::npos);
  EXPECT_NE(refused(1ms, 1ms, 1, 0).find("cpus is 0"), std::string::npos);
}

TEST(usable_cpus, a_variable_that_is_no_number_is_refused_by_options) {
  const tandem::test::told_cpus told("many");
  EXPECT_GE(tandem::usable_cpus(), 1U);
  try {
    const tandem::runtime_options options;
    FAIL();
  } catch (const std::invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find("TANDEM_CPUS"), std::string::npos);
  }
}

TEST(usable_cpus, a_variable_overrides_what_the_machine_has) {
  const tandem::test::told_cpus told("7");
  EXPECT_EQ(tandem::usable_cpus(), 7U);
  EXPECT_EQ(tandem::usual_workers(), 7U);
  EXPECT_EQ(tandem::runtime_options().min_threads, 7U);
}

}  // namespace
