// blocked_thread_test.cpp: what is said of a thread that blocks, where the system numbers threads.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <source_location>
#include <string>
#include <tandem/environment.hpp>
#include <tandem/io/install.hpp>
#include <tandem/spawn.hpp>
#include <tandem/yield.hpp>
#include <thread>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::io::stall_report;
using tandem::test::test_runtime;
using tandem::test::threads_between;

TEST(stall, a_report_has_the_number_of_the_thread) {
  std::atomic<int> told{0};
  completion_options options = threads_between(1, 1);
  options.on_stall = [&told](const stall_report& report) { told.store(report.os_thread); };
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, options);
  int number = 0;
  rt->spawn(pool.executor(),
            [](std::atomic<int>& said, int& thread) -> task<void> {
              thread = ::gettid();
              while (said.load() == 0) std::this_thread::sleep_for(20ms);
              co_return;
            }(told, number))
      .wait();
  EXPECT_EQ(told.load(), number);
}

TEST(stall, by_default_a_line_names_a_handler_that_blocks) {
  completion_options options = threads_between(1, 1);
  options.on_stall = nullptr;
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, options);
  const std::string file = std::source_location::current().file_name();
  std::string said;
  // Another line of this process may have had the turn: then the next one has.
  for (int round = 0; round < 50 && said.find(file) == std::string::npos; ++round) {
    testing::internal::CaptureStderr();
    rt->spawn(pool.executor(),
              []() -> task<void> {
                tandem::name("sleeps");
                co_await tandem::yield();
                std::this_thread::sleep_for(150ms);
                co_return;
              }())
        .wait();
    said = testing::internal::GetCapturedStderr();
  }
  EXPECT_NE(said.find(file), std::string::npos) << said;
  EXPECT_NE(said.find("the task \"sleeps\" spawned at "), std::string::npos) << said;
  EXPECT_NE(said.find("what blocks to blocking()"), std::string::npos) << said;
  EXPECT_EQ(said.find(".Frame"), std::string::npos) << said;  // that is g++'s, for itself
}

}  // namespace
