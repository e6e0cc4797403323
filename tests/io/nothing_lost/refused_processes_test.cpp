// refused_processes_test.cpp: every allocation and every thread fails once in what a program does with processes.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <tandem/io/process.hpp>
#include <tandem/run.hpp>

#include "io/nothing_lost/every_use.hpp"
#include "io/nothing_lost/refusal_cases.hpp"
#include "io/process/process_support.hpp"
#include "refusals.hpp"

namespace {

using tandem::task;
using tandem::io::process;
using tandem::test::shell;

task<void> start_and_wait() {
  process child = co_await process::start(shell("exit 0"));
  EXPECT_TRUE((co_await child.wait()).success());
}

task<void> talk(process& child) {
  co_await child.standard_input().write_all(tandem::io::bytes_of("echo"));
  std::array<std::byte, 8> room;
  EXPECT_EQ(co_await child.standard_output().read(room), 4U);
}

task<void> talk_and_collect() {
  co_await tandem::io::with_process(shell("cat"), tandem::test::piped(), talk);
  const auto got = co_await process::output(shell("cat"), {}, "collected");
  EXPECT_EQ(got.standard_output, "collected");
}

task<void> leave_one() {
  tandem::io::process_options options;
  options.on_scope_end = tandem::io::leave_running();
  const process left = co_await process::start(shell("exit 0"), options);
}

/// Where the reaper has got no thread the next start takes what was left.
void wait_until_none_is_left() {
  const tandem::test::granted here;
  while (tandem::test::has_children()) tandem::run(start_and_wait());
}

void use_processes() {
  try {
    tandem::test::refused_program program;
    program.run(talk_and_collect());
    program.run_at_home(start_and_wait());
    program.run(leave_one());
  } catch (...) {
    wait_until_none_is_left();
    throw;
  }
  wait_until_none_is_left();
}

TEST(refused_processes, without_memory_they_end_or_say_why_not_and_none_is_left) {
  using tandem::test::asker;
  use_processes();  // what is made once in a process
  for (const asker& whose : {asker::threads("refused-0"), asker::anyone()}) {
    tandem::test::for_each_refusal(tandem::test::allocations, whose, [] { use_processes(); });
    if (HasFailure()) return;
  }
}

TEST(refused_processes, without_a_thread_they_end_or_say_why_not_and_none_is_left) {
  tandem::test::refuse_in(tandem::test::new_threads, &use_processes);
}

}  // namespace
