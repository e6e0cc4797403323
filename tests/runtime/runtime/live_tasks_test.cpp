// live_tasks_test.cpp: whoever waits in vain for a pool's end learns who is missing.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <source_location>
#include <string>
#include <tandem/event.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "runtime/support/submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::event;
using tandem::growth_order;
using tandem::join_handle;
using tandem::task;

/// What tasks wait for, and how many do.
struct sign {
  event until;
  std::atomic<int> begun{0};
};

task<void> wait_for(sign& to) {
  ++to.begun;
  co_await to.until.wait();
}

/// How a report names what was spawned in that line of this file.
std::string named(unsigned count, std::source_location where) {
  return std::to_string(count) + " spawned at " + where.file_name() + ":" +
         std::to_string(where.line()) + " in ";
}

bool names(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(submit, who_waits_in_vain_for_the_end_learns_which_tasks_are_missing) {
  sign until;
  test_runtime rt(pool_of(2, 2, growth_order::demand));
  std::vector<join_handle<void>> handles;
  const auto pair = std::source_location::current();
  for (int i = 0; i < 2; ++i) handles.push_back(rt.workers().submit(wait_for(until), 0, pair));
  const auto single = std::source_location::current();
  handles.push_back(rt->spawn(wait_for(until), single));
  wait_until([&] { return until.begun == 3; });
  rt.workers().shutdown();
  EXPECT_FALSE(rt.workers().await_termination(1ns));
  const std::string text = rt.workers().describe();
  EXPECT_TRUE(names(text, "3 tasks live: ")) << text;
  EXPECT_TRUE(names(text, named(2, pair))) << text;
  EXPECT_TRUE(names(text, named(1, single))) << text;
  EXPECT_LT(text.find(named(2, pair)), text.find(named(1, single))) << "the most first";
  until.until.set();
  EXPECT_TRUE(rt.workers().await_termination(1h));
  EXPECT_FALSE(names(rt.workers().describe(), "live: ")) << rt.workers().describe();
  for (auto& each : handles) each.wait();
}

TEST(submit, tasks_that_run_are_named_and_those_that_have_not_begun_are_counted) {
  gate closed;
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  const auto first = std::source_location::current();
  auto running = rt.workers().submit(closed.block(), 0, first);
  wait_until([&] { return closed.inside() == 1; });
  auto queued = rt.workers().submit(closed.block());
  const std::string text = rt.workers().describe();
  EXPECT_TRUE(names(text, named(1, first))) << text;
  EXPECT_TRUE(names(text, "2 tasks live: ")) << text;
  EXPECT_TRUE(names(text, "    1 not begun, or in scopes of these\n")) << text;
  closed.open();
  running.wait();
  queued.wait();
}

TEST(submit, children_of_scopes_are_counted_with_the_task_that_waits_for_them) {
  sign until;
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  const auto where = std::source_location::current();
  auto parent = rt.workers().submit(
      [](sign& from) -> task<void> {
        auto spawn_three = [&](tandem::task_scope& scope) -> task<void> {
          for (int i = 0; i < 3; ++i) scope.spawn(wait_for(from));
          co_return;
        };
        co_await tandem::with_scope(spawn_three);
      }(until),
      0, where);
  wait_until([&] { return until.begun == 3; });
  const std::string text = rt.workers().describe();
  EXPECT_TRUE(names(text, "4 tasks live: ")) << text;
  EXPECT_TRUE(names(text, named(1, where))) << text;
  EXPECT_TRUE(names(text, "    3 not begun, or in scopes of these\n")) << text;
  until.until.set();
  parent.wait();
}

TEST(submit, of_many_lines_the_report_names_some_and_counts_the_others) {
  sign until;
  test_runtime rt(pool_of(1, 1, growth_order::demand));
  std::vector<join_handle<void>> handles;
  const auto spawn = [&](std::source_location where) {
    handles.push_back(rt->spawn(wait_for(until), where));
  };
  // clang-format off
  spawn(std::source_location::current()); spawn(std::source_location::current());
  spawn(std::source_location::current()); spawn(std::source_location::current());
  spawn(std::source_location::current()); spawn(std::source_location::current());
  spawn(std::source_location::current()); spawn(std::source_location::current());
  spawn(std::source_location::current()); spawn(std::source_location::current());
  spawn(std::source_location::current()); spawn(std::source_location::current());
  spawn(std::source_location::current()); spawn(std::source_location::current());
  spawn(std::source_location::current()); spawn(std::source_location::current());
  spawn(std::source_location::current()); spawn(std::source_location::current());
  // clang-format on
  wait_until([&] { return until.begun == 18; });
  const std::string text = rt.workers().describe();
  EXPECT_TRUE(names(text, "18 tasks live: ")) << text;
  EXPECT_TRUE(names(text, "    2 spawned elsewhere\n")) << text;
  until.until.set();
  for (auto& each : handles) each.wait();
}

TEST(submit, a_report_may_be_made_while_tasks_come_and_go) {
  test_runtime rt(pool_of(2, 2, growth_order::demand));
  std::atomic<bool> enough{false};
  std::atomic<int> ran{0};
  std::vector<join_handle<void>> handles;
  for (int i = 0; i < 2; ++i) {
    handles.push_back(rt->spawn([](std::atomic<bool>& end, std::atomic<int>& count) -> task<void> {
      while (!end) co_await tandem::spawn(count_up(count));
    }(enough, ran)));
  }
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(names(rt.workers().describe(), "live: "));
  enough = true;
  for (auto& each : handles) each.wait();
}

}  // namespace
