// process_group_test.cpp: what becomes of the members of a group when its leader ends.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>
#include <system_error>
#include <tandem/io/process.hpp>
#include <utility>

#include "io/process/process_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::task;
using tandem::io::pipe_reader;
using tandem::io::process;
using tandem::io::process_exit;
using tandem::test::has_children;
using tandem::test::kill_number;
using tandem::test::leading;
using tandem::test::line_of;
using tandem::test::on_every_home;
using tandem::test::shell;

TEST(process_groups, with_process_ends_the_members_of_a_leader_that_its_body_has_waited_for) {
  on_every_home([]() -> task<void> {
    pipe_reader output;
    auto waits = [&](process& leader) -> task<void> {
      output = std::move(leader.standard_output());
      EXPECT_TRUE((co_await leader.wait()).success());
    };
    const auto argv = shell("sleep 1000 & exit 0");
    co_await tandem::io::with_process(argv, leading(tandem::io::kill_at_once()), waits);
    EXPECT_EQ(co_await line_of(output), "");
    EXPECT_FALSE(has_children());
  });
}

TEST(process_groups, a_leader_that_was_waited_for_and_is_destroyed_takes_its_members_along) {
  on_every_home([]() -> task<void> {
    std::optional<process> leader(co_await process::start(
        shell("sleep 1000 & exit 3"), leading(tandem::io::terminate_then_kill({}))));
    pipe_reader output = std::move(leader->standard_output());
    EXPECT_EQ((co_await leader->wait()).code(), 3);
    leader.reset();
    EXPECT_EQ(co_await line_of(output), "");
    EXPECT_FALSE(has_children());
  });
}

TEST(process_groups, signals_reach_the_members_after_their_leader_was_waited_for) {
  on_every_home([]() -> task<void> {
    process leader =
        co_await process::start(shell("sleep 1000 & exit 3"), leading(tandem::io::leave_running()));
    const process_exit ended = co_await leader.wait();
    EXPECT_EQ(ended.code(), 3);
    EXPECT_EQ(co_await leader.wait(), ended) << "a second wait says the same";
    try {
      leader.signal(SIGTERM);
      ADD_FAILURE() << "there is nobody any more";
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), std::errc::no_such_process);
    }
    leader.signal_group(kill_number);
    EXPECT_EQ(co_await line_of(leader.standard_output()), "");
    EXPECT_EQ(co_await leader.end(), ended);
    EXPECT_FALSE(has_children());
    EXPECT_THROW(leader.signal_group(kill_number), std::system_error) << "its number is free";
  });
}

}  // namespace
