// depth_test.cpp: depth and number of awaits never become stack depth.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <tandem/fork_join.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/unstarted_task.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "system.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::task;
using tandem::test::small_stacks;
using tandem::test::test_runtime;

constexpr int million = 1'000'000;

task<int> one() { co_return 1; }
task<int> in_a_loop() {
  int sum = 0;
  for (int i = 0; i < million; ++i) sum += co_await one();
  co_return sum;
}
task<int> nested(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await nested(depth - 1);
}
task<int> nested_failure(int depth) {
  if (depth == 0) throw std::runtime_error("bottom");
  co_return co_await nested_failure(depth - 1);
}
task<int> chain(int depth) {  // a fork at every level, one child of which goes on
  if (depth == 0) co_return 0;
  auto [deep, leaf] = co_await tandem::fork_join(chain(depth - 1), one());
  co_return deep + leaf;
}

TEST(depth, a_million_ready_awaits_in_a_loop_fit_in_256_kib) {
  const small_stacks small;
  test_runtime rt(1);
  EXPECT_EQ(rt.run(in_a_loop()), million);
}

TEST(depth, a_million_nested_awaits_fit_in_256_kib) {
  const small_stacks small;
  test_runtime rt(1);
  EXPECT_EQ(rt.run(nested(million)), million);
}

TEST(depth, a_failure_climbs_through_a_hundred_thousand_frames) {
  const small_stacks small;
  test_runtime rt(1);
  EXPECT_THROW(rt.run(nested_failure(100'000)), std::runtime_error);
}

TEST(depth, a_hundred_thousand_nested_forks_fit_in_256_kib) {
  const small_stacks small;
  test_runtime rt(2);
  EXPECT_EQ(rt.run(chain(100'000)), 100'000);
}

TEST(depth, a_million_spawned_tasks_in_a_scope_all_run) {
  const small_stacks small;
  test_runtime rt(2);
  std::atomic<int> ran{0};
  rt.run([](std::atomic<int>& count) -> task<void> {
    co_await tandem::with_scope([&count](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < million; ++i) {
        scope.spawn([](std::atomic<int>& c) -> task<void> {
          c.fetch_add(1, std::memory_order_relaxed);
          co_return;
        }(count));
      }
      co_return;
    });
  }(ran));
  EXPECT_EQ(ran.load(), million);
}

TEST(depth, a_million_spawned_and_awaited_tasks_on_one_worker) {
  const small_stacks small;
  test_runtime rt(1);
  const int sum = rt.run([]() -> task<int> {
    std::vector<tandem::join_handle<int>> handles;
    handles.reserve(million);
    for (int i = 0; i < million; ++i) handles.push_back(tandem::spawn(one()));
    int total = 0;
    for (auto& handle : handles) total += co_await handle;
    co_return total;
  }());
  EXPECT_EQ(sum, million);
}

TEST(depth, a_million_yields_do_not_grow_the_stack) {
  const small_stacks small;
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    for (int i = 0; i < million; ++i) co_await tandem::yield();
  }());
}

task<int> around(task<int> inner) { co_return 1 + co_await std::move(inner); }
task<void> around_nothing(task<void> inner) { co_await std::move(inner); }
task<void> nothing() { co_return; }

/// A task that awaits its argument, which awaits its argument, ...: none of them has started.
task<int> wrapped(int depth) {
  task<int> out = one();
  for (int i = 0; i < depth; ++i) out = around(std::move(out));
  return out;
}
task<void> wrapped_nothing(int depth) {
  task<void> out = nothing();
  for (int i = 0; i < depth; ++i) out = around_nothing(std::move(out));
  return out;
}

TEST(depth, a_million_tasks_around_each_other_run_in_256_kib) {
  const small_stacks small;
  test_runtime rt(1);
  EXPECT_EQ(rt.run(wrapped(million)), million + 1);
}

// Found by review: each frame destroyed the next one on top of itself.
TEST(depth, a_million_tasks_around_each_other_are_dropped_before_they_start) {
  { const task<int> dropped = wrapped(million); }
  task<int> replaced = wrapped(million);
  replaced = one();
}

TEST(depth, a_million_tasks_around_each_other_are_dropped_by_whoever_was_given_them) {
  const small_stacks small;
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    { const auto forked = tandem::fork_join(wrapped(million), one()); }
    { const auto both = tandem::when_all(wrapped(million), one()); }
    std::vector<task<int>> many;
    many.push_back(wrapped(million));
    many.clear();
    co_await [](task<int> ignored) -> task<void> {
      (void)ignored;  // ends without having started it
      co_return;
    }(wrapped(million));
    tandem::single_thread_executor closed(*tandem::current_environment()->runtime());
    closed.close();
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      EXPECT_THROW(scope.spawn(closed, wrapped_nothing(million)), tandem::executor_closed);
      co_return;
    });
    auto removed = tandem::spawn(wrapped(million));
    EXPECT_EQ(removed.cancel(), tandem::cancel_result::removed_before_start);
  }());
}

TEST(depth, a_million_tasks_around_each_other_are_dropped_with_what_shutdown_now_gives_back) {
  tandem::runtime_options options;
  options.min_threads = 0;  // nobody runs it
  tandem::runtime rt(options);
  rt.workers().submit(wrapped(million)).detach();
  const std::vector<tandem::unstarted_task> left = rt.workers().shutdown_now();
  EXPECT_EQ(left.size(), 1U);
}

/// Writes its name when it goes.
class named {
 public:
  named(std::string& log, char name) : log_(&log), name_(name) {}
  named(named&& other) noexcept : log_(std::exchange(other.log_, nullptr)), name_(other.name_) {}
  named& operator=(named&&) = delete;
  ~named() {
    if (log_ != nullptr) log_->push_back(name_);
  }

 private:
  std::string* log_;
  char name_;
};

task<void> owns(named first, task<void> inner, named last) {
  (void)first;
  (void)last;
  co_await std::move(inner);
}

// What a task's argument refers to may be an argument beside it: so the order is the language's.
TEST(depth, a_dropped_task_takes_its_arguments_along_in_order) {
  std::string log;
  {
    task<void> inner = owns(named(log, 'c'), nothing(), named(log, 'd'));
    const task<void> outer = owns(named(log, 'a'), std::move(inner), named(log, 'b'));
  }
  ASSERT_EQ(log.size(), 4U);
  // The compilers differ in the order of the arguments of one frame, but not in what lies between.
  EXPECT_TRUE(log == "bdca" || log == "acdb" || log == "bcda" || log == "adcb") << log;
}

/// An argument whose end runs a function.
class runs_at_end {
 public:
  explicit runs_at_end(std::function<void()> run) : run_(std::move(run)) {}
  runs_at_end(runs_at_end&& other) noexcept : run_(std::exchange(other.run_, nullptr)) {}
  runs_at_end& operator=(runs_at_end&&) = delete;
  ~runs_at_end() {
    if (run_) run_();
  }

 private:
  std::function<void()> run_;
};

task<void> given(runs_at_end /*argument*/) { co_return; }

/// Has a variable that a task refers to, which it makes and drops.
void make_and_drop(const char*& seen) {
  std::array<char, std::size_t{100} * 1024> text{};
  text[0] = 'a';
  {
    const task<void> dropped = given(runs_at_end([&] { seen = text.data(); }));
  }
  EXPECT_EQ(seen, text.data()) << "the task was kept for later, when the text is gone";
}

// It was destroyed after the function had returned: the stack looked like that of many tasks around
// each other.
TEST(depth, what_an_arguments_destructor_drops_goes_before_its_variables) {
  const char* seen = nullptr;
  {
    const task<void> outer = given(runs_at_end([&] { make_and_drop(seen); }));
  }
  EXPECT_NE(seen, nullptr);
}

}  // namespace
