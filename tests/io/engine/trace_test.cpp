// trace_test.cpp: a trace has the completion threads, what ran there, and their stalls.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tandem/environment.hpp>
#include <tandem/io/install.hpp>
#include <tandem/spawn.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"
#include "trace_lines.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::test::offences;
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
  std::string id;
  int slices = 0;
  for (const trace_line& each : lines) {
    if (each.name == "reader" && each.phase == "b") id = each.id;
    const bool is_slice = each.phase == "X" && each.name == "reader";
    slices += is_slice && each.track == "completion thread 0";
    EXPECT_FALSE(is_slice && each.track != "completion thread 0") << each.track;
  }
  const auto was_suspended = [&id](const trace_line& each) {
    return each.phase == "b" && each.name == "suspended" && each.id == id;
  };
  EXPECT_GE(slices, 1);
  // Unless all had come before it asked.
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), was_suspended) != 0, slices > 1);
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
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "tandem_io_trace_stall.json";
  std::filesystem::remove(file);
  std::atomic<bool> told{false};
  completion_options options = threads_between(1, 1);
  options.on_stall = [&told](const tandem::io::stall_report&) { told = true; };
  test_runtime rt(1);
  completion_pool& pool = tandem::io::install(*rt, options);
  rt->trace_to(file.string());
  rt->spawn(pool.executor(),
            [](std::atomic<bool>& said) -> task<void> {
              tandem::current_environment()->set_name("keeps its thread");
              while (!said.load()) std::this_thread::sleep_for(1ms);
              co_return;
            }(told))
      .wait();
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  in.close();
  const std::vector<trace_line> lines = trace_lines(text.str());
  const auto is_it = [](const trace_line& each) {
    return each.track == "completion thread 0" && each.phase == "X" &&
           each.arguments.find("\"goes on\":\"yes\"") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), is_it), 1) << text.str();
  std::filesystem::remove(file);
}

}  // namespace
