// cpus_by_environment_test.cpp: a number of CPUs that the environment tells.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

#include <tandem/cpu_count.hpp>
#include <tandem/runtime.hpp>

namespace {

class set_variable {
 public:
  explicit set_variable(const char* value) { ::setenv("TANDEM_CPUS", value, 1); }
  set_variable(const set_variable&) = delete;
  set_variable& operator=(const set_variable&) = delete;
  ~set_variable() { ::unsetenv("TANDEM_CPUS"); }
};

TEST(usable_cpus, there_is_one_at_least_and_no_more_than_the_machine_has) {
  EXPECT_GE(tandem::usable_cpus(), 1U);
  EXPECT_LE(tandem::usable_cpus(), tandem::present_cpus());
}

TEST(usable_cpus, a_variable_is_taken_for_the_number) {
  const set_variable told("7");
  EXPECT_EQ(tandem::usable_cpus(), 7U);
  EXPECT_EQ(tandem::runtime_options().min_threads, 7U);
}

TEST(usable_cpus, a_variable_that_is_no_number_is_refused_by_options) {
  const set_variable told("many");
  EXPECT_GE(tandem::usable_cpus(), 1U);
  try {
    const tandem::runtime_options options;
    FAIL();
  } catch (const std::invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find("TANDEM_CPUS"), std::string::npos);
  }
}

}  // namespace
