// trace_test.cpp: a trace has the completion threads, what ran there, and their stalls.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <tandem/environment.hpp>
#include <tandem/io/install.hpp>
#include <tandem/spawn.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"
#include "support/temporary_folder.hpp"
#include "trace_lines.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::test::offences;
using tandem::test::temporary_folder;
using tandem::test::test_runtime;
using tandem::test::threads_between;
using tandem::test::trace_line;
using tandem::test::trace_lines;

task<void> reader(tandem::io::tcp_stream& from) {
  tandem::current_environment()->set_name("reader");
  std::array<std::byte, 16> buffer{};
  while (co_await from.read(buffer) != 0) {}
}

TEST(io_trace, shows_what_ran_on_a_completion_thread_and_was_woken_there) {
  test_runtime rt(2);
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 1));
  rt->trace_to("");
  tandem::test::connection both = rt.run(tandem::test::make_connection());
  auto reads = rt->spawn(pool.thread(0).executor(), reader(both.server));
  const std::vector<std::byte> some = tandem::test::pattern(16, 1);
  rt.run(tandem::test::write_and_end(both.client, some));
  reads.wait();
  const std::vector<trace_line> lines = trace_lines(tandem::test::trace_of(*rt));
  EXPECT_EQ(offences(lines), std::vector<std::string>());
  int slices = 0;
  int woken = 0;
  for (const trace_line& each : lines) {
    const bool is_there = each.track == "completion thread 0";
    const bool is_slice = each.phase == "X" && each.name == "reader";
    EXPECT_TRUE(is_there || !is_slice) << each.track;
    slices += is_slice;
    woken += is_there && each.phase == "f";
  }
  // What has ended before it could wait was woken by itself.
  EXPECT_GE(woken, 1);
  EXPECT_LE(woken, slices);
}

TEST(io_trace, has_the_decisions_of_the_completion_pool_with_their_reasons) {
  test_runtime rt(1);
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 2));
  rt->trace_to("");
  rt.run([]() -> task<void> { co_return; }());  // a trace begins with its first event
  pool.resize(2);
  const std::vector<trace_line> lines = trace_lines(tandem::test::trace_of(*rt));
  const auto is_it = [](const trace_line& each) {
    return each.track == "pool decisions" && each.name == "goal" &&
           tandem::test::member_of(each.arguments, "pool") == "completion pool" &&
           tandem::test::member_of(each.arguments, "reason") == "outside_change" &&
           tandem::test::member_of(each.arguments, "new goal") == "2";
  };
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), is_it), 1);
}

TEST(io_trace, is_written_when_a_completion_thread_stalls) {
  const temporary_folder folder;
  const std::string file = folder / "stall.json";
  std::atomic<bool> told{false};
  completion_options options = threads_between(1, 1);
  options.on_stall = [&](const tandem::io::stall_report&) { told = true; };
  test_runtime rt(1);
  completion_pool& pool = tandem::io::install(*rt, options);
  tandem::trace_options each_time;
  each_time.between_stalls = 0ns;
  rt->trace_to(file, each_time);
  const auto is_it = [](const trace_line& each) {
    return each.track == "completion thread 0" && each.phase == "X" &&
           each.arguments.find("\"goes on\":\"yes\"") != std::string::npos;
  };
  std::ptrdiff_t found = 0;
  // On a slow machine the begin of a task may have been a stall, too: then the next one is it.
  for (int round = 0; round < 50 && found == 0; ++round) {
    told = false;
    rt->spawn(pool.executor(),
              [](std::atomic<bool>& said) -> task<void> {
                while (!said.load()) std::this_thread::sleep_for(1ms);
                co_return;
              }(told))
        .wait();
    const std::vector<trace_line> lines = trace_lines(tandem::test::get(file));
    found = std::count_if(lines.begin(), lines.end(), is_it);
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
