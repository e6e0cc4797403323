// watchdog.cpp: the thread behind watchdog.hpp.
// SPDX-License-Identifier: MIT
//
// One mutex guards the name and deadline of the running test and the list of reports. Its thread
// waits on a condition variable until the deadline or until the next test starts. The thread and
// its state are never destroyed: a test may hang in a static destructor too.
#include "watchdog.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "sanitized.hpp"
#include "system.hpp"
#include "waits.hpp"

namespace tandem::test {
namespace {

using clock = std::chrono::steady_clock;

constexpr int default_limit_seconds = sanitized ? 300 : 60;

long seconds_from_environment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 ? value : otherwise;
}

struct report_entry {
  const hang_report* owner;
  std::function<void(std::FILE*)> print;
};

struct watchdog_state {
  std::mutex mutex;
  std::condition_variable changed;
  std::string running;                                    // empty: no test is running
  clock::time_point deadline = clock::time_point::max();  // of the running test
  std::list<report_entry> reports;
  flag has_begun;  // the watching thread
  const std::chrono::seconds limit{
      seconds_from_environment("TANDEM_TEST_LIMIT_SECONDS", default_limit_seconds) +
      seconds_from_environment("TANDEM_STRESS_SECONDS", 0)};
};

watchdog_state& state() {
  static watchdog_state* const leaked = new watchdog_state;
  return *leaked;
}

[[noreturn]] void end_hung_test(watchdog_state& s) {
  std::fprintf(stderr, "\nwatchdog: %s hangs: not done after %lld s\n", s.running.c_str(),
               static_cast<long long>(s.limit.count()));
  for (const report_entry& r : s.reports) r.print(stderr);
  std::fflush(stderr);
  print_stacks();
  std::abort();
}

void watch() {
  watchdog_state& s = state();
  s.has_begun = true;
  std::unique_lock lock(s.mutex);
  for (;;) {
    if (s.running.empty()) {
      s.changed.wait(lock);
    } else {
      s.changed.wait_until(lock, s.deadline);
      if (!s.running.empty() && clock::now() >= s.deadline) end_hung_test(s);
    }
  }
}

void set_running(std::string name) {
  watchdog_state& s = state();
  {
    const std::lock_guard lock(s.mutex);
    s.running = std::move(name);
    s.deadline = clock::now() + s.limit;
  }
  s.changed.notify_one();
}

class test_listener : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo& test) override {
    set_running(std::string(test.test_suite_name()) + "." + test.name());
  }
  void OnTestEnd(const ::testing::TestInfo&) override { set_running(""); }
  // Static destructors and leak checks are watched as well.
  void OnTestProgramEnd(const ::testing::UnitTest&) override {
    set_running("the end of the process");
  }
};

}  // namespace

hang_report::hang_report(std::function<void(std::FILE*)> report) {
  const std::lock_guard lock(state().mutex);
  state().reports.push_back({this, std::move(report)});
}

hang_report::~hang_report() {
  const std::lock_guard lock(state().mutex);
  state().reports.remove_if([this](const report_entry& r) { return r.owner == this; });
}

std::chrono::seconds hang_limit() noexcept { return state().limit; }

std::chrono::milliseconds stress_time(std::chrono::milliseconds otherwise) {
  const long seconds = seconds_from_environment("TANDEM_STRESS_SECONDS", -1);
  return seconds < 0 ? otherwise : std::chrono::seconds(seconds);
}

void start_watchdog(bool in_death_test) {
  // The thread is born with every signal blocked, so that tests of signals see only their own
  // threads.
  start_quiet_thread(&watch);
  // No test meets a thread that is just beginning.
  state().has_begun.wait(false);
  if (in_death_test) {
    set_running("the child of a death test");
  } else {
    ::testing::UnitTest::GetInstance()->listeners().Append(new test_listener);
  }
}

}  // namespace tandem::test
