// unix_process_group_test.cpp: members of a group that ignore signals, or outlive their leader.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <optional>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/process.hpp>
#include <utility>

#include "io/process/process_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::pipe_reader;
using tandem::io::process;
using tandem::test::has_children;
using tandem::test::leading;
using tandem::test::line_of;
using tandem::test::on_every_home;
using tandem::test::shell;

/// Its member ignores SIGTERM, and has the pipe open as long as it lives.
const char* const with_stubborn_member =
    "(trap '' TERM; echo ready; exec sleep 1000) & exec sleep 1000";

TEST(process_groups, whoever_destroys_a_leader_ends_its_members_too) {
  on_every_home([]() -> task<void> {
    for (const auto how :
         {tandem::io::terminate_then_kill(std::chrono::seconds(60)), tandem::io::kill_at_once()}) {
      std::optional<process> leader(
          co_await process::start(shell(with_stubborn_member), leading(how)));
      pipe_reader output = std::move(leader->standard_output());
      EXPECT_EQ(co_await line_of(output), "ready");
      leader.reset();
      EXPECT_EQ(co_await line_of(output), "") << "the end: nobody has it any more";
    }
  });
  while (has_children()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Says what it is told, as long as it lives. Its leader is gone by then.
const char* const with_member_that_speaks = "exec 3<&0; (read a <&3; echo $a) & exit 3";

TEST(process_groups, members_outlive_a_leader_that_is_left_running) {
  on_every_home([]() -> task<void> {
    std::optional<process> leader(co_await process::start(shell(with_member_that_speaks),
                                                          leading(tandem::io::leave_running())));
    auto input = std::move(leader->standard_input());
    pipe_reader output = std::move(leader->standard_output());
    EXPECT_EQ((co_await leader->wait()).code(), 3);
    leader.reset();
    EXPECT_FALSE(has_children());
    co_await input.write_all(tandem::io::bytes_of("alive\n"));
    EXPECT_EQ(co_await line_of(output), "alive");
  });
}

// The group that has its number by then may be another one's.
TEST(process_groups, no_signal_is_sent_to_the_group_of_a_leader_that_somebody_else_has_taken) {
  on_every_home([]() -> task<void> {
    process leader = co_await process::start(shell(with_member_that_speaks),
                                             leading(tandem::io::kill_at_once()));
    while (::waitpid(leader.id(), nullptr, 0) != leader.id()) {}
    EXPECT_THROW(leader.signal_group(SIGKILL), std::system_error);
    EXPECT_EQ((co_await as_result(leader.end())).error(), std::errc::no_child_process);
    co_await leader.standard_input().write_all(tandem::io::bytes_of("alive\n"));
    EXPECT_EQ(co_await line_of(leader.standard_output()), "alive");
  });
}

}  // namespace
