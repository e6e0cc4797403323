// os_thread_test.cpp: what the system knows of a thread that has ended.
// SPDX-License-Identifier: MIT
#include "platform/os_thread.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace {

namespace platform = tandem::io::platform;

TEST(os_thread, a_thread_that_has_ended_has_used_nothing) {
  int clock = 0;
  std::thread([&] {
    clock = platform::cpu_clock_of_this_thread();
    while (platform::cpu_time_of(clock).count() == 0) {}  // a clock may tick every 15 ms
  }).join();
  // join() may return a little before the system has forgotten it.
  while (platform::cpu_time_of(clock).count() != 0) std::this_thread::yield();
  EXPECT_EQ(platform::cpu_time_of(0), std::chrono::nanoseconds(0));
}

}  // namespace
