// watchdog.hpp: ends a test that hangs, and says what the pools looked like.
// SPDX-License-Identifier: MIT
//
// A hang is the main failure of a scheduler. tests/support/main.cpp starts one watchdog per test
// executable: a thread (all signals blocked) that aborts the process when one test runs longer than
// its limit, after printing the test's name, every registered report, and, where gdb is installed,
// every thread's stack.
//
// The limit comes from TANDEM_TEST_LIMIT_SECONDS (ctest sets it from tandem_add_test's TIMEOUT,
// five times that under a sanitizer), else 60 s, 300 s under a sanitizer. TANDEM_STRESS_SECONDS is
// added to it.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>

namespace tandem::test {

/// While it lives, `report` is called when a test hangs: print the state of a pool, a queue, a
/// ring.
///
/// It is called from the watchdog's thread while everything else still runs (or hangs): it may only
/// read what may be read from any thread, and must not wait for a lock that the hung test could
/// hold.
class hang_report {
 public:
  explicit hang_report(std::function<void(std::FILE*)> report);
  ~hang_report();
  hang_report(const hang_report&) = delete;
  hang_report& operator=(const hang_report&) = delete;
};

/// The limit of one test, in this process, as it was when the watchdog started.
std::chrono::seconds hang_limit() noexcept;

/// Seconds that each stress test should run: TANDEM_STRESS_SECONDS, else `otherwise`.
std::chrono::milliseconds stress_time(std::chrono::milliseconds otherwise);

/// Starts the watchdog and hooks it into GoogleTest; called once, by main, which says whether this
/// process is the child of a death test (GoogleTest tells listeners nothing there: its whole life
/// is watched).
void start_watchdog(bool in_death_test);

}  // namespace tandem::test
