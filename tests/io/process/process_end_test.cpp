// process_end_test.cpp: how a process ends, who ends it, and that no zombie stays.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/process.hpp>
#include <tandem/run.hpp>
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
using tandem::io::command_line;
using tandem::io::process;
using tandem::io::process_exit;
using tandem::io::process_group;
using tandem::io::process_options;
using tandem::io::process_stdio;
using tandem::io::terminate_then_kill;
using tandem::test::has_children;
using tandem::test::line_of;
using tandem::test::on_every_home;
using tandem::test::piped;
using tandem::test::shell;
using tandem::test::wait_for_reaper;

/// Says "ready" when its traps are set, and reads until it is ended.
task<process> start_ready(std::string traps, process_options options = piped()) {
  process child =
      co_await process::start(shell(std::move(traps) + " echo ready; read a; read a"), options);
  EXPECT_EQ(co_await line_of(child.standard_output()), "ready");
  co_return child;
}

TEST(process_end, a_signal_ends_it_and_wait_says_which) {
  on_every_home([]() -> task<void> {
    process child = co_await start_ready("");
    child.signal(SIGKILL);
    const process_exit ended = co_await child.wait();
    EXPECT_EQ(ended.signal(), SIGKILL);
    EXPECT_EQ(ended.code(), -1);
    EXPECT_EQ(ended.to_string(), "signal 9");
    try {
      child.signal(SIGTERM);
      ADD_FAILURE() << "its number may be another one's by now";
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), std::errc::no_such_process);
    }
  });
}

TEST(process_end, a_signal_that_is_none_is_refused) {
  on_every_home([]() -> task<void> {
    process child = co_await start_ready("");
    EXPECT_THROW(child.signal(1000), std::system_error);
    EXPECT_THROW(child.signal_group(SIGTERM), std::logic_error);
    (void)co_await child.end();
  });
}

TEST(process_end, a_stop_ends_a_wait_and_the_next_one_hears_of_the_end) {
  on_every_home([]() -> task<void> {
    process child = co_await start_ready("");
    const auto stopped = co_await as_result(tandem::with_timeout(1ms, child.wait()));
    EXPECT_EQ(stopped.error(), std::errc::timed_out);
    child.standard_input().close();
    EXPECT_TRUE((co_await child.wait()).has_code());
  });
}

TEST(process_end, all_tasks_that_wait_hear_of_it) {
  on_every_home([]() -> task<void> {
    process child = co_await start_ready("");
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 4; ++i) {
        scope.spawn([](process& of) -> task<void> {
          EXPECT_EQ((co_await of.wait()).signal(), SIGTERM);
        }(child));
      }
      co_await tandem::sleep_for(1ms);
      child.signal(SIGTERM);
      co_await scope.join();
    });
  });
}

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

TEST(process_end, one_that_was_never_started_has_no_child) {
  on_every_home([]() -> task<void> {
    process none;
    EXPECT_EQ(none.id(), 0);
    EXPECT_EQ((co_await as_result(none.wait())).error(), std::errc::no_child_process);
    EXPECT_EQ((co_await as_result(none.end())).error(), std::errc::no_child_process);
    EXPECT_THROW(none.signal(SIGTERM), std::system_error);
    co_await none.end_scope();
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

TEST(process_end, with_process_leaves_none_however_its_body_ends) {
  on_every_home([]() -> task<void> {
    process_options options = piped();
    options.on_scope_end = terminate_then_kill(5ms);
    const auto argv = shell("trap '' TERM; read a; read a");
    auto returns = [](process& child) -> task<int> { co_return child.id(); };
    EXPECT_GT(co_await tandem::io::with_process(argv, options, returns), 0);
    EXPECT_FALSE(has_children());
    auto throws = [](process&) -> task<int> {
      throw std::runtime_error("on purpose");
      co_return 0;
    };
    const auto failed = co_await as_result(tandem::io::with_process(argv, options, throws));
    EXPECT_FALSE(failed.has_value());
    EXPECT_FALSE(has_children());
    auto waits = [](process& child) -> task<void> { (void)co_await child.wait(); };
    const auto stopped = co_await as_result(
        tandem::with_timeout(1ms, tandem::io::with_process(argv, options, waits)));
    EXPECT_EQ(stopped.error(), std::errc::timed_out);
    EXPECT_FALSE(has_children());
  });
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

TEST(process_end, end_takes_the_whole_group_of_a_leader_along) {
  on_every_home([]() -> task<void> {
    process_options options = piped();
    options.group = process_group::own();
    // The grandchild keeps the pipe open.
    process child = co_await process::start(
        shell("sleep 1000 & trap 'exit 0' TERM; echo ready; read a; wait"), options);
    EXPECT_EQ(co_await line_of(child.standard_output()), "ready");
    (void)co_await child.end();
    EXPECT_EQ(co_await line_of(child.standard_output()), "") << "the end: nobody has it any more";
  });
}

TEST(process_end, signals_reach_the_whole_group_of_a_leader) {
  on_every_home([]() -> task<void> {
    process_options options = piped();
    options.group = process_group::session();
    process child =
        co_await process::start(shell("sleep 1000 & echo ready; read a; wait"), options);
    EXPECT_EQ(co_await line_of(child.standard_output()), "ready");
    child.signal_group(SIGKILL);
    EXPECT_EQ((co_await child.wait()).signal(), SIGKILL);
    EXPECT_EQ(co_await line_of(child.standard_output()), "");
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

TEST(process_end, one_may_outlive_its_runtime_and_is_taken_then) {
  std::optional<process> kept;
  tandem::run([](std::optional<process>& to) -> task<void> {
    process_options options;
    options.standard_input = process_stdio::pipe();
    options.on_scope_end = tandem::io::leave_running();
    process child = co_await process::start(shell("exit 0"), options);
    child.standard_input().close();
    to.emplace(std::move(child));
  }(kept));
  kept.reset();
  while (has_children()) std::this_thread::sleep_for(1ms);
}

TEST(process_end, one_may_be_waited_for_in_one_runtime_after_another) {
  std::optional<process> kept;
  tandem::run([](std::optional<process>& to) -> task<void> {
    process child = co_await start_ready("");
    const auto stopped = co_await as_result(tandem::with_timeout(1ms, child.wait()));
    EXPECT_EQ(stopped.error(), std::errc::timed_out);
    to.emplace(std::move(child));
  }(kept));
  // By now it would be at home in the first one's port.
  auto waits = [](process& of) -> task<void> {
    const auto stopped = co_await as_result(tandem::with_timeout(1ms, of.wait()));
    EXPECT_EQ(stopped.error(), std::errc::timed_out);
    of.signal(SIGTERM);
    EXPECT_EQ((co_await of.wait()).signal(), SIGTERM);
  };
  tandem::run(waits(*kept));
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

TEST(process_end, a_stop_of_output_ends_the_program) {
  on_every_home([]() -> task<void> {
    const auto got = co_await as_result(
        tandem::with_timeout(5ms, process::output(command_line("sleep", "1000"))));
    EXPECT_EQ(got.error(), std::errc::timed_out);
    EXPECT_FALSE(has_children());
  });
}

TEST(process_end, output_that_is_too_long_ends_it) {
  on_every_home([]() -> task<void> {
    process_options options;
    options.most_output_bytes = 10'000;
    const auto got = co_await as_result(process::output(command_line("yes"), options));
    EXPECT_EQ(got.error(), tandem::io::stream_errc::too_long);
    EXPECT_FALSE(has_children());
  });
}

}  // namespace
