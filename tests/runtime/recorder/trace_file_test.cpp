// trace_file_test.cpp: when a trace becomes a file, and what is said if it does not.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>
#include <thread>
#include <vector>

#include "support/temporary_folder.hpp"
#include "test_runtime.hpp"
#include "trace_lines.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::runtime;
using tandem::task;
using tandem::test::get;
using tandem::test::offences;
using tandem::test::temporary_folder;
using tandem::test::trace_line;
using tandem::test::trace_lines;
using tandem::test::trace_of;

task<void> nothing() { co_return; }

TEST(trace_file, is_written_on_request_and_replaced_by_the_next_one) {
  const temporary_folder folder;
  const std::string path = folder / "run.json";
  runtime rt(tandem::test::with_threads(1));
  rt.trace_to(path);
  EXPECT_FALSE(std::filesystem::exists(path));
  rt.spawn(nothing()).wait();
  rt.write_trace();
  const std::string first = get(path);
  EXPECT_EQ(offences(trace_lines(first)), std::vector<std::string>());
  rt.spawn(nothing()).wait();
  rt.write_trace();
  EXPECT_GT(get(path).size(), first.size());
  EXPECT_EQ(folder.names(), std::vector<std::string>{"run.json"});
}

TEST(trace_file, of_two_runtimes_at_once_is_that_of_the_last_one_and_whole) {
  const temporary_folder folder;
  const std::string path = folder / "run.json";
  const auto writes = [&path] {
    runtime rt(tandem::test::with_threads(1));
    rt.trace_to(path);
    for (int i = 0; i < 20; ++i) {
      rt.spawn(nothing()).wait();
      rt.write_trace();
    }
  };
  std::thread other(writes);
  writes();
  other.join();
  EXPECT_EQ(offences(trace_lines(get(path))), std::vector<std::string>());
  EXPECT_EQ(folder.names(), std::vector<std::string>{"run.json"});
}

TEST(trace_file, that_cannot_be_written_is_an_error_that_names_it_and_the_cure) {
  const temporary_folder folder;
  runtime rt(tandem::test::with_threads(1));
  rt.trace_to(folder / "missing/run.json");
  try {
    rt.write_trace();
    FAIL() << "it was written";
  } catch (const std::system_error& refused) {
    const std::string text = refused.what();
    EXPECT_NE(text.find("missing"), std::string::npos) << text;
    EXPECT_NE(text.find("folder has to be there"), std::string::npos) << text;
    EXPECT_EQ(refused.code(), std::errc::no_such_file_or_directory);
  }
}

TEST(trace_file, a_place_that_is_a_folder_stays_and_nothing_is_left_beside_it) {
  const temporary_folder folder;
  std::filesystem::create_directories(folder / "run.json/inside");
  runtime rt(tandem::test::with_threads(1));
  rt.trace_to(folder / "run.json");
  EXPECT_THROW(rt.write_trace(), std::system_error);
  EXPECT_TRUE(std::filesystem::exists(folder / "run.json/inside"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"run.json"});
}

TEST(trace_file, nobody_asked_for_is_a_logic_error) {
  runtime rt(tandem::test::with_threads(1));
  EXPECT_THROW(rt.write_trace(), std::logic_error);
  EXPECT_THROW((void)trace_of(rt), std::logic_error);
  rt.trace_to("");
  EXPECT_THROW(rt.write_trace(), std::logic_error);  // there is no path
  EXPECT_NO_THROW((void)trace_of(rt));
}

TEST(trace_file, numbers_of_events_that_cannot_be_are_refused_by_name) {
  runtime rt(tandem::test::with_threads(1));
  tandem::trace_options options;
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{63}, (std::size_t{1} << 24) + 1}) {
    options.events_per_thread = wrong;
    try {
      rt.trace_to("", options);
      FAIL() << wrong;
    } catch (const std::invalid_argument& refused) {
      EXPECT_NE(std::string(refused.what()).find("events_per_thread"), std::string::npos);
    }
  }
  EXPECT_FALSE(tandem::detail::is_recorded());
}

task<void> stuck(std::atomic<int>& arrived, std::atomic<bool>& may_end) {
  ++arrived;
  while (!may_end) std::this_thread::sleep_for(1ms);
  co_return;
}

TEST(trace_file, works_while_all_workers_are_stuck_and_shows_them) {
  std::atomic<int> arrived{0};
  std::atomic<bool> may_end{false};
  runtime rt(tandem::test::with_threads(2));
  rt.trace_to("");
  auto one = rt.spawn(stuck(arrived, may_end));
  auto two = rt.spawn(stuck(arrived, may_end));
  auto waits = rt.spawn(nothing());
  while (arrived != 2) std::this_thread::yield();
  const std::vector<trace_line> lines = trace_lines(trace_of(rt));
  int go_on = 0;
  int queued = 0;
  for (const trace_line& each : lines) {
    go_on += each.arguments.find("\"goes on\":\"yes\"") != std::string::npos;
    queued += each.phase == "b" && each.name == "queued";
  }
  may_end = true;
  EXPECT_EQ(go_on, 2);
  EXPECT_EQ(queued, 3);
  EXPECT_EQ(offences(lines), std::vector<std::string>());
  one.wait();
  two.wait();
  waits.wait();
}

TEST(trace_file, is_written_when_a_pool_says_that_it_starves) {
  const temporary_folder folder;
  std::atomic<int> arrived{0};
  std::atomic<bool> may_end{false};
  std::atomic<bool> reported{false};
  tandem::runtime_options options;
  options.min_threads = 2;
  options.max_threads = 3;
  options.adaptive.gate_period = 10ms;
  options.adaptive.cpu_sample_interval = 10ms;
  options.starvation_threshold = 30ms;
  options.log_starvation = false;
  options.on_starvation = [&](const tandem::starvation_report&) { reported = true; };
  runtime rt(options);
  tandem::trace_options each_time;
  each_time.between_stalls = 0ns;
  rt.trace_to(folder / "stall.json", each_time);
  std::vector<tandem::join_handle<void>> all;
  for (int i = 0; i < 5; ++i) all.push_back(rt.spawn(stuck(arrived, may_end)));
  // On a slow machine the first one may come before anything has begun.
  std::string text;
  while (text.find("\"goes on\":\"yes\"") == std::string::npos) {
    reported = false;
    while (!reported) std::this_thread::sleep_for(1ms);
    text = get(folder / "stall.json");
  }
  may_end = true;
  EXPECT_EQ(offences(trace_lines(text)), std::vector<std::string>());
  for (tandem::join_handle<void>& each : all) each.wait();
}

}  // namespace
