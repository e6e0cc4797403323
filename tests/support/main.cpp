// main.cpp: the main function of every test executable: GoogleTest, a watchdog, sanitizer defaults.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "watchdog.hpp"

// Read by the sanitizers' runtimes before main; the environment variables of the same names
// override them.
extern "C" {
const char* __asan_default_options();   // NOLINT
const char* __tsan_default_options();   // NOLINT
const char* __ubsan_default_options();  // NOLINT
const char* __asan_default_options() { return "detect_leaks=1:check_initialization_order=1"; }
// die_after_fork=0: the children of fork_policy_test start threads. atexit_sleep_ms: it would look
// for a whole second whether a thread that is left races with the end; with a process a test that
// is most of the time.
const char* __tsan_default_options() {
  return "halt_on_error=1:second_deadlock_stack=1:die_after_fork=0:atexit_sleep_ms=20";
}
const char* __ubsan_default_options() { return "print_stacktrace=1"; }
}

int main(int argc, char** argv) {
  const bool in_death_test = std::any_of(argv, argv + argc, [](std::string_view argument) {
    return argument.starts_with("--gtest_internal_run_death_test");
  });
  // The watchdog makes the process multi-threaded: death tests start afresh instead of running in a
  // fork.
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  ::testing::InitGoogleTest(&argc, argv);
  tandem::test::start_watchdog(in_death_test);
  return RUN_ALL_TESTS();
}
