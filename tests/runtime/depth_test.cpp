// depth_test.cpp: depth and number of awaits never become stack depth.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <stdexcept>
#include <tandem/fork_join.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "test_runtime.hpp"

namespace {

using tandem::task;
using tandem::test::test_runtime;

constexpr int million = 1'000'000;

/// Gives the threads that start meanwhile 256 KiB of stack.
class small_stacks {
 public:
  small_stacks() {
    pthread_attr_t attributes;
    pthread_getattr_default_np(&before_);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{256} * 1024);
    EXPECT_EQ(pthread_setattr_default_np(&attributes), 0);
    pthread_attr_destroy(&attributes);
  }
  ~small_stacks() { pthread_setattr_default_np(&before_); }
  small_stacks(const small_stacks&) = delete;
  small_stacks& operator=(const small_stacks&) = delete;

 private:
  pthread_attr_t before_;
};

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

}  // namespace
