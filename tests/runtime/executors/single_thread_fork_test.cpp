// single_thread_fork_test.cpp: a child of fork() has an executor's object, and not its thread.
// SPDX-License-Identifier: MIT
#include <tandem/single_thread_executor.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <tandem/sync_wait.hpp>
#include <thread>
#include <utility>

#include "test_runtime.hpp"

namespace {

using tandem::single_thread_executor;
using tandem::task;
using tandem::test::test_runtime;

task<std::thread::id> current_thread() { co_return std::this_thread::get_id(); }

TEST(single_thread_executor, in_a_child_of_fork_leaves_the_thread_to_the_parent) {
  test_runtime rt(1);
  // No heap: a child of fork() cannot rely on it under every sanitizer.
  std::optional<single_thread_executor> own(std::in_place, *rt);
  tandem::sync_wait(*own, []() -> task<void> { co_return; }());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(50);  // a child that hangs is a failed test
    own.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(tandem::sync_wait(*own, current_thread()), std::this_thread::get_id());
}

}  // namespace
