// console_events_test.cpp: what a console sends is what a signal_set yields on Windows.
// SPDX-License-Identifier: MIT
//
// The system calls kernel32's CtrlRoutine on a thread that it starts in the process, once for each event; so does this file.
#include <gtest/gtest.h>
#include <windows.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/signal_set.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::signal_set;
using tandem::test::test_runtime;

/// Begins an event. @returns the thread on which its handlers run
HANDLE begin_event(DWORD event) {
  static const auto routine = reinterpret_cast<LPTHREAD_START_ROUTINE>(reinterpret_cast<void*>(
      ::GetProcAddress(::GetModuleHandleW(L"kernel32.dll"), "CtrlRoutine")));
  EXPECT_NE(routine, nullptr);
  const std::uintptr_t number = event;
  return ::CreateThread(nullptr, 0, routine, reinterpret_cast<void*>(number), 0,
                        nullptr);  // NOLINT
}

void send_event(DWORD event) {
  const HANDLE thread = begin_event(event);
  EXPECT_EQ(::WaitForSingleObject(thread, INFINITE), WAIT_OBJECT_0);
  ::CloseHandle(thread);
}

task<int> next_of(signal_set& signals) { co_return co_await signals.wait(); }

std::atomic<int> passed_on = 0;

BOOL WINAPI count_event(DWORD /*event*/) {
  ++passed_on;
  return TRUE;
}

// The first one: handlers are asked from the last one to the first, and that of the sets comes with the first set.
TEST(console_events, what_belongs_to_no_set_goes_to_whoever_was_there_before) {
  ASSERT_NE(::SetConsoleCtrlHandler(&count_event, TRUE), 0);
  test_runtime rt;
  rt.run([]() -> task<void> {
    {
      signal_set signals({SIGINT});
      send_event(CTRL_BREAK_EVENT);
      EXPECT_EQ(passed_on, 1);
      send_event(CTRL_C_EVENT);
      EXPECT_EQ(co_await signals.wait(), SIGINT);
    }
    send_event(CTRL_C_EVENT);
  }());
  EXPECT_EQ(passed_on, 2);
  ::SetConsoleCtrlHandler(&count_event, FALSE);
}

TEST(console_events, interrupt_and_break_are_yielded_in_their_order) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    signal_set signals({SIGINT, SIGTERM});
    send_event(CTRL_C_EVENT);
    send_event(CTRL_BREAK_EVENT);
    send_event(CTRL_C_EVENT);
    std::array<int, 3> got{};
    for (int& each : got) each = co_await signals.wait();
    EXPECT_EQ(got, (std::array<int, 3>{SIGINT, SIGTERM, SIGINT}));

    auto waiting = tandem::spawn(next_of(signals));
    co_await tandem::sleep_for(1ms);
    send_event(CTRL_BREAK_EVENT);
    EXPECT_EQ(co_await waiting, SIGTERM);
  }());
}

TEST(console_events, a_wait_that_ends_by_its_time_loses_no_event) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    signal_set signals({SIGINT});
    EXPECT_TRUE(
        (co_await tandem::as_result(tandem::with_timeout(2ms, next_of(signals)))).is_cancelled());
    send_event(CTRL_C_EVENT);
    EXPECT_EQ(co_await signals.wait(), SIGINT);
  }());
}

TEST(console_events, a_signal_belongs_to_one_set_and_others_do_not_come) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const signal_set signals({SIGINT});
    EXPECT_THROW(signal_set again({SIGINT}), std::logic_error);
    EXPECT_THROW(signal_set never({SIGABRT}), std::system_error);
    const signal_set other({SIGTERM});
    co_return;
  }());
}

// The last one: its handler stays.
TEST(console_events,
     when_the_console_closes_the_handler_stays_so_that_the_process_can_end_in_order) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    signal_set signals({SIGTERM});
    const HANDLE handler = begin_event(CTRL_CLOSE_EVENT);
    EXPECT_EQ(co_await signals.wait(), SIGTERM);
    EXPECT_EQ(::WaitForSingleObject(handler, 20), static_cast<DWORD>(WAIT_TIMEOUT));
    ::CloseHandle(handler);
  }());
}

}  // namespace
