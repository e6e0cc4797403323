// unix_process_end_test.cpp: how a process ends that handles signals, that somebody else takes, or that a fork has inherited.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/process.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>

#include "fork_support.hpp"
#include "io/process/process_support.hpp"
#include "loopback_ports.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::process;
using tandem::io::process_exit;
using tandem::io::process_options;
using tandem::io::terminate_then_kill;
using tandem::test::has_children;
using tandem::test::line_of;
using tandem::test::on_every_home;
using tandem::test::piped;
using tandem::test::shell;
using tandem::test::start_ready;
using tandem::test::wait_for_reaper;

TEST(process_end, where_somebody_else_has_waited_for_all_children_wait_says_so) {
  on_every_home([]() -> task<void> {
    process child = co_await process::start(shell("exit 1"));
    while (::waitpid(-1, nullptr, 0) > 0) {}
    for (int round = 0; round < 2; ++round) {
      const auto ended = co_await as_result(child.wait());
      EXPECT_EQ(ended.error(), std::errc::no_child_process);
    }
    EXPECT_THROW(child.signal(SIGTERM), std::system_error);
  });
}

TEST(process_end, where_the_program_ignores_the_ends_of_children_wait_says_so) {
  ASSERT_NE(::signal(SIGCHLD, SIG_IGN), SIG_ERR);
  on_every_home([]() -> task<void> {
    process child = co_await start_ready("");
    child.standard_input().close();
    EXPECT_EQ((co_await as_result(child.wait())).error(), std::errc::no_child_process);
  });
  ::signal(SIGCHLD, SIG_DFL);
}

TEST(process_end, somebody_else_who_takes_it_while_a_task_waits_ends_that_wait) {
  on_every_home([]() -> task<void> {
    process child = co_await start_ready("");
    std::thread thief([] {
      while (::waitpid(-1, nullptr, 0) > 0) {}
    });
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](process& of) -> task<void> {
        const auto ended = co_await as_result(of.wait());
        // Both are woken at once: whoever comes first.
        EXPECT_TRUE(ended || ended.error() == std::errc::no_child_process);
      }(child));
      co_await tandem::sleep_for(1ms);
      child.standard_input().close();
      co_await scope.join();
    });
    thief.join();
  });
}

TEST(process_end, end_terminates_it_and_one_that_will_not_is_killed) {
  on_every_home([]() -> task<void> {
    process polite = co_await start_ready("trap 'exit 5' TERM;");
    polite.standard_output().close();
    EXPECT_EQ((co_await polite.end(terminate_then_kill(60s))).signal(), 0);
    process stubborn = co_await start_ready("trap '' TERM;");
    EXPECT_EQ((co_await stubborn.end(terminate_then_kill(5ms))).signal(), SIGKILL);
    process killed = co_await start_ready("trap 'exit 5' TERM;");
    EXPECT_EQ((co_await killed.end(tandem::io::kill_at_once())).signal(), SIGKILL);
    process left = co_await start_ready("trap 'exit 5' TERM;");
    left.standard_output().close();
    EXPECT_EQ((co_await left.end(tandem::io::leave_running())).signal(), 0) << "it is ended";
    EXPECT_FALSE(has_children());
  });
}

TEST(process_end, a_stop_does_not_reach_end) {
  on_every_home([]() -> task<void> {
    auto ending = tandem::spawn([]() -> task<process_exit> {
      process child = co_await start_ready("trap '' TERM;");
      while (!tandem::stop_requested()) co_await tandem::yield();
      co_return co_await child.end(terminate_then_kill(5ms));
    }());
    ending.cancel();
    // A stop that came before the process was ready has ended that.
    const auto ended = co_await as_result(ending);
    EXPECT_TRUE(ended.is_cancelled() || ended.value().signal() == SIGKILL);
  });
  while (has_children()) std::this_thread::sleep_for(1ms);
}

TEST(process_end, a_scope_whose_process_has_been_taken_away_ends_all_the_same) {
  on_every_home([]() -> task<void> {
    auto loses_it = [](process&) -> task<int> {
      while (::waitpid(-1, nullptr, 0) > 0) {}
      co_return 1;
    };
    EXPECT_EQ(co_await tandem::io::with_process(shell(":"), {}, loses_it), 1);
  });
}

TEST(process_end, one_that_nobody_waits_for_is_ended_and_taken_in_the_background) {
  on_every_home([]() -> task<void> {
    const std::size_t before = tandem::test::open_descriptors();
    constexpr std::size_t reapers = 2;  // it keeps the ends of its pipe
    for (const auto how : {terminate_then_kill(60s), terminate_then_kill(5ms),
                           tandem::io::kill_at_once(), tandem::io::leave_running()}) {
      const bool is_stubborn = how.patience() == 5ms;
      process_options options = piped();
      options.on_scope_end = how;
      process child = co_await start_ready(is_stubborn ? "trap '' TERM;" : "", options);
      if (how.how() == tandem::io::process_end::kind::leave) {
        // It goes by itself: its input has ended.
        child.standard_input().close();
      }
      if (is_stubborn) {
        const auto input = child.standard_input().release();
        child = process();
        wait_for_reaper(before + reapers + 1);
        ::close(input);
      } else {
        child = process();
        wait_for_reaper(before + reapers);
      }
    }
    co_return;
  });
}

TEST(process_end, patience_without_an_end_is_as_good_as_any) {
  on_every_home([]() -> task<void> {
    process_options options = piped();
    options.on_scope_end = terminate_then_kill(std::chrono::milliseconds::max());
    std::optional<process> child(
        co_await start_ready("trap 'echo ending; read b; echo ended well; exit 0' TERM;", options));
    auto input = std::move(child->standard_input());
    auto output = std::move(child->standard_output());
    child.reset();
    EXPECT_EQ(co_await line_of(output), "ending");
    co_await input.write_all(tandem::io::bytes_of("go on\n"));
    EXPECT_EQ(co_await line_of(output), "ended well");
    auto returns = [&](process& of) -> task<void> {
      output = std::move(of.standard_output());
      EXPECT_EQ(co_await line_of(output), "ready");
    };
    const auto argv = shell("trap 'echo ended well; exit 0' TERM; echo ready; read a; read a");
    co_await tandem::io::with_process(argv, options, returns);
    EXPECT_EQ(co_await line_of(output), "ended well");
  });
  while (has_children()) std::this_thread::sleep_for(1ms);
}

TEST(process_end, a_child_of_fork_leaves_the_processes_of_its_parent_alone) {
  tandem::test::test_runtime rt;
  auto starts = []() -> task<process> { co_return co_await start_ready(""); };
  std::optional<process> child = rt.run(starts());
  EXPECT_EQ(tandem::test::in_child([&] {
              child.reset();
              return 0;
            }),
            0);
  EXPECT_TRUE(child.has_value());
  rt.run([](process& of) -> task<void> {
    of.standard_input().close();
    EXPECT_TRUE((co_await of.wait()).has_code()) << "the child of fork() has ended it";
  }(*child));
}

task<void> abandon_stubborn_one() {
  process_options options = piped();
  options.on_scope_end = terminate_then_kill(5ms);
  process child = co_await start_ready("trap '' TERM;", options);
  (void)child.standard_input().release();  // what it waits for never comes
}

TEST(process_end, what_a_child_of_fork_abandons_is_ended_also_where_its_parent_did_so_before) {
  if (!tandem::test::child_may_allocate) {
    GTEST_SKIP() << "the sanitizer's allocator does not survive a fork";
  }
  tandem::test::test_runtime rt;
  process_options options = piped();
  options.on_scope_end = tandem::io::leave_running();
  auto starts = [&options]() -> task<process> { co_return co_await start_ready("", options); };
  std::optional<process> kept = rt.run(starts());
  auto input = kept->standard_input().release();
  kept.reset();  // the reaper waits for it, and so has a thread
  EXPECT_EQ(tandem::test::in_child([] {
              tandem::test::test_runtime own;
              own.run(abandon_stubborn_one());
              while (has_children()) std::this_thread::sleep_for(1ms);
              return 0;
            }),
            0);
  ::close(input);
  while (has_children()) std::this_thread::sleep_for(1ms);
}

}  // namespace
