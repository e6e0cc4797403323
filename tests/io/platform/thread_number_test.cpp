// thread_number_test.cpp: whether a thread is blocked, where the system tells by its number.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <thread>

#include "platform/os_thread.hpp"

namespace {

namespace platform = tandem::io::platform;

TEST(os_thread, a_thread_that_runs_or_has_ended_is_not_blocked) {
  int number = 0;
  std::thread([&] {
    number = platform::number_of_this_thread();
    EXPECT_FALSE(platform::is_blocked(number));  // it runs
  }).join();
  EXPECT_NE(number, platform::number_of_this_thread());
  // join() may return a little before the system has forgotten it.
  while (platform::is_blocked(number)) std::this_thread::yield();
}

}  // namespace
