// process_end_test.cpp: how a process ends, who ends it, and that no zombie stays.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/process.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <thread>
#include <utility>

#include "io/process/process_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::process;
using tandem::io::process_exit;
using tandem::io::process_group;
using tandem::io::process_options;
using tandem::io::process_stdio;
using tandem::io::terminate_then_kill;
using tandem::test::has_children;
using tandem::test::kill_number;
using tandem::test::line_of;
using tandem::test::on_every_home;
using tandem::test::piped;
using tandem::test::shell;
using tandem::test::start_ready;

TEST(process_end, a_signal_ends_it_and_wait_says_which) {
  on_every_home([]() -> task<void> {
    process child = co_await start_ready("");
    child.signal(kill_number);
    const process_exit ended = co_await child.wait();
    EXPECT_EQ(ended.signal(), kill_number);
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
    options.group = process_group::own();
    process child =
        co_await process::start(shell("sleep 1000 & echo ready; read a; wait"), options);
    EXPECT_EQ(co_await line_of(child.standard_output()), "ready");
    child.signal_group(kill_number);
    EXPECT_EQ((co_await child.wait()).signal(), kill_number);
    EXPECT_EQ(co_await line_of(child.standard_output()), "");
  });
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

TEST(process_end, a_stop_of_output_ends_the_program) {
  on_every_home([]() -> task<void> {
    const auto got =
        co_await as_result(tandem::with_timeout(5ms, process::output(shell("exec sleep 1000"))));
    EXPECT_EQ(got.error(), std::errc::timed_out);
    EXPECT_FALSE(has_children());
  });
}

TEST(process_end, output_that_is_too_long_ends_it) {
  on_every_home([]() -> task<void> {
    process_options options;
    options.most_output_bytes = 10'000;
    const auto got = co_await as_result(process::output(shell("yes"), options));
    EXPECT_EQ(got.error(), tandem::io::stream_errc::too_long);
    EXPECT_FALSE(has_children());
  });
}

}  // namespace
