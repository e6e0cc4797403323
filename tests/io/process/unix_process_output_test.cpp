// unix_process_output_test.cpp: output() of programs whose background reads and writes on.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <tandem/io/process.hpp>

#include "io/process/process_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::process;
using tandem::io::process_options;
using tandem::io::process_output;
using tandem::test::of_own_group;
using tandem::test::on_every_home;
using tandem::test::shell;

TEST(process_outputs, nor_does_input_that_nobody_reads) {
  on_every_home([]() -> task<void> {
    const process_output got = co_await process::output(
        shell("exec 3<&0; sleep 1000 <&3 & echo done"), of_own_group(), std::string(300'000, 'x'));
    EXPECT_EQ(got.standard_output, "done\n");
  });
}

TEST(process_outputs, are_whole_also_without_any_grace) {
  on_every_home([]() -> task<void> {
    process_options options = of_own_group();
    options.output_grace = 0ms;
    const process_output got = co_await process::output(
        shell("sleep 1000 & head -c 60000 /dev/zero; head -c 50000 /dev/zero >&2"), options);
    EXPECT_EQ(got.standard_output.size(), 60'000U);
    EXPECT_EQ(got.standard_error.size(), 50'000U);
  });
}

TEST(process_outputs, have_what_comes_in_the_grace_from_the_background) {
  on_every_home([]() -> task<void> {
    process_options options;
    options.output_grace = std::chrono::milliseconds::max();
    const process_output got = co_await process::output(
        shell("(while kill -0 $$; do sleep 0.01; done; echo late) 2>/dev/null & echo early"),
        options);
    EXPECT_EQ(got.standard_output, "early\nlate\n");
  });
}

TEST(process_outputs, of_a_program_that_ran_too_long_are_what_it_has_written) {
  // So it ends by itself, in its patience.
  ASSERT_NE(::signal(SIGTERM, SIG_IGN), SIG_ERR);
  on_every_home([]() -> task<void> {
    process_options options;
    options.output_time_limit = 0ms;
    options.on_scope_end = tandem::io::terminate_then_kill(60s);
    const process_output got = co_await process::output(shell("cat; exit 5"), options, "input");
    EXPECT_TRUE(got.timed_out);
    EXPECT_EQ(got.standard_output, "input");
    EXPECT_EQ(got.exit.code(), 5);
  });
  ::signal(SIGTERM, SIG_DFL);
}

}  // namespace
