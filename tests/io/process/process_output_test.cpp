// process_output_test.cpp: output() ends in time, whoever has its program's pipes open.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
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
using tandem::test::has_children;
using tandem::test::of_own_group;
using tandem::test::on_every_home;
using tandem::test::shell;

TEST(process_outputs, what_a_program_leaves_in_the_background_does_not_hold_them_up) {
  on_every_home([]() -> task<void> {
    const process_output got =
        co_await process::output(shell("sleep 1000 & echo done; exit 3"), of_own_group());
    EXPECT_EQ(got.standard_output, "done\n");
    EXPECT_EQ(got.exit.code(), 3);
    EXPECT_FALSE(got.timed_out);
    EXPECT_FALSE(has_children());
  });
}

TEST(process_outputs, have_a_limit_of_time_that_ends_the_program) {
  on_every_home([]() -> task<void> {
    process_options options;
    options.output_time_limit = 5ms;
    const process_output ended = co_await process::output(shell("exec sleep 1000"), options);
    EXPECT_TRUE(ended.timed_out);
    EXPECT_EQ(ended.exit.signal(), SIGTERM);
    EXPECT_FALSE(has_children());
    options.output_time_limit = std::chrono::milliseconds::max();
    const process_output in_time = co_await process::output(shell("exit 0"), options);
    EXPECT_FALSE(in_time.timed_out);
    EXPECT_TRUE(in_time.exit.success());
  });
}

}  // namespace
