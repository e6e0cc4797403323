// fork_policy_test.cpp: what a child of fork() may do with a runtime of its parent: nothing, by name.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tandem/blocking.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "fork_support.hpp"
#include "test_runtime.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::forked_runtime;
using tandem::task;
using tandem::test::child_may_allocate;
using tandem::test::in_child;
using tandem::test::refused;

task<int> fib(int n) {
  if (n < 2) co_return n;
  const auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

/// Something of everything: forks, spawns, time, blocking calls.
task<int> work() {
  auto spawned = tandem::spawn(fib(10));
  co_await tandem::sleep_for(1ms);
  const int seven = co_await tandem::blocking([] { return 7; });
  co_await tandem::yield();
  co_return co_await spawned + seven + co_await fib(12);
}
constexpr int work_result = 55 + 7 + 144;

tandem::runtime_options two_threads() { return tandem::test::with_threads(2); }

TEST(fork_policy, every_use_of_a_parents_runtime_is_refused_by_name) {
  tandem::runtime rt(two_threads());
  ASSERT_EQ(rt.spawn(work()).wait(), work_result);
  tandem::test::thread_semaphore go_on(0);
  auto living = rt.spawn([](tandem::test::thread_semaphore& sign) -> task<void> {
    co_await tandem::blocking([&sign] { sign.acquire(); });
  }(go_on));
  const int answer = in_child([&] {
    if (!refused("runtime::spawn", [&] { rt.spawn(work()).detach(); })) return 1;
    if (!refused("runtime::drain", [&] { (void)rt.drain(1h); })) return 2;
    if (!refused("runtime::shutdown", [&] { rt.shutdown(); })) return 3;
    if (!refused("join_handle::wait", [&] { living.wait(); })) return 4;
    if (!refused("runtime::spawn", [&] { tandem::sync_wait(rt.workers(), work()); })) return 5;
    if (living.cancel() != tandem::cancel_result::already_done) return 6;
    living.detach();
    return 0;
  });
  EXPECT_EQ(answer, 0);
  go_on.release();
  living.wait();
  EXPECT_EQ(rt.spawn(work()).wait(), work_result) << "the parent has noticed nothing";
}

TEST(fork_policy, the_destructor_leaves_all_to_the_parent_and_a_new_runtime_works) {
  auto rt = std::make_unique<tandem::runtime>(two_threads());
  ASSERT_EQ(rt->spawn(work()).wait(), work_result);
  const int answer = in_child([&rt] {
    rt.reset();
    tandem::runtime fresh(two_threads());
    return fresh.spawn(work()).wait() == work_result ? 0 : 1;
  });
  EXPECT_EQ(answer, 0);
  EXPECT_EQ(rt->spawn(work()).wait(), work_result);
}

TEST(fork_policy, a_new_runtime_may_stand_where_the_old_one_did) {
  std::optional<tandem::runtime> rt(two_threads());
  ASSERT_EQ(rt->spawn(work()).wait(), work_result);
  const int answer = in_child([&rt] {
    rt.emplace(two_threads());
    if (rt->spawn(work()).wait() != work_result) return 1;
    // And a child of the child may do as much with its parent's.
    return in_child([&rt] {
      if (!refused("runtime::spawn", [&rt] { rt->spawn(work()).detach(); })) return 2;
      rt.emplace(two_threads());
      return rt->spawn(work()).wait() == work_result ? 0 : 3;
    });
  });
  EXPECT_EQ(answer, 0);
}

TEST(fork_policy, a_fork_amid_busy_workers_copies_no_lock_that_is_held) {
  if (!child_may_allocate) GTEST_SKIP() << "the sanitizer's allocator does not survive a fork";
  tandem::runtime rt(two_threads());
  std::atomic<bool> enough{false};
  std::vector<tandem::join_handle<void>> churn;
  for (int i = 0; i < 4; ++i) {
    // Frames of many sizes and threads: the central store is in use all the time.
    churn.push_back(rt.spawn([](std::atomic<bool>& stop) -> task<void> {
      while (!stop) {
        std::vector<tandem::join_handle<int>> many;
        for (int k = 0; k < 300; ++k) many.push_back(tandem::spawn(fib(3)));
        for (auto& each : many) (void)co_await each;
        co_await tandem::yield();
      }
    }(enough)));
  }
  for (int i = 0; i < 20 && !HasFailure(); ++i) {
    EXPECT_EQ(in_child([] { return tandem::run(work(), two_threads()) == work_result ? 0 : 1; }),
              0);
  }
  enough = true;
  for (auto& each : churn) each.wait();
}

/// Takes and gives back more frames than a magazine holds, so the central store is asked.
void trade_frames() {
  constexpr std::size_t bytes = 256;
  std::vector<void*> frames(400);
  for (void*& each : frames) each = tandem::detail::allocate_frame(bytes);
  for (void* each : frames) tandem::detail::free_frame(each, bytes);
}

TEST(fork_policy, the_store_of_frames_is_whole_in_the_child) {
  if (!child_may_allocate) GTEST_SKIP() << "the sanitizer's allocator does not survive a fork";
  tandem::runtime rt(two_threads());
  std::atomic<bool> enough{false};
  std::vector<std::thread> traders;
  for (int i = 0; i < 3; ++i) {
    traders.emplace_back([&enough] {
      while (!enough) trade_frames();
    });
  }
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    EXPECT_EQ(in_child([] {
                ::alarm(10);
                trade_frames();
                return 0;
              }),
              0);
  }
  enough = true;
  for (std::thread& each : traders) each.join();
}

TEST(fork_policy, a_post_from_outside_ends_the_child_since_it_cannot_throw) {
  tandem::runtime rt(two_threads());
  ASSERT_EQ(rt.spawn(work()).wait(), work_result);
  const int answer = in_child([&rt] {
    std::set_terminate([] {
      try {
        std::rethrow_exception(std::current_exception());
      } catch (const forked_runtime&) {
        ::_exit(17);
      } catch (...) {
        ::_exit(18);
      }
    });
    tandem::job item([](tandem::job*) noexcept {});
    rt.workers().post(&item);
    return 0;
  });
  EXPECT_EQ(answer, 17);
}

TEST(fork_policy, the_child_of_a_task_may_use_a_runtime_of_its_own_and_exit) {
  if (!child_may_allocate) GTEST_SKIP() << "the sanitizer's allocator does not survive a fork";
  tandem::runtime rt(two_threads());
  const auto forks = []() -> task<int> {
    co_return in_child([] {
      if (!refused("tandem::spawn", [] { tandem::spawn(work()).detach(); })) return 1;
      return tandem::run(work(), two_threads()) == work_result ? 0 : 2;
    });
  };
  EXPECT_EQ(rt.spawn(forks()).wait(), 0);
  EXPECT_EQ(rt.spawn(work()).wait(), work_result);
}

TEST(fork_policy, a_child_that_returns_into_the_parents_worker_is_ended) {
  tandem::runtime rt(two_threads());
  const auto forks = []() -> task<pid_t> { co_return ::fork(); };
  const auto forks_in_blocking = []() -> task<pid_t> {
    co_return co_await tandem::blocking([] { return ::fork(); });
  };
  for (const pid_t child : {rt.spawn(forks()).wait(), rt.spawn(forks_in_blocking()).wait()}) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGABRT);
  }
}

TEST(fork_policy, fork_and_exec_from_blocking_just_work) {
  tandem::runtime rt(two_threads());
  const auto runs = [](int code) -> task<int> {
    co_return co_await tandem::blocking([code] {
      const std::string script = "exit " + std::to_string(code);
      const pid_t child = ::fork();
      if (child == 0) {
        ::execl("/bin/sh", "sh", "-c", script.c_str(), static_cast<char*>(nullptr));
        ::_exit(127);
      }
      int status = 0;
      while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
      return WEXITSTATUS(status);
    });
  };
  auto first = rt.spawn(runs(3));
  auto second = rt.spawn(runs(4));
  EXPECT_EQ(first.wait(), 3);
  EXPECT_EQ(second.wait(), 4);
}

TEST(fork_policy, a_failure_that_nobody_took_is_the_parents_to_report) {
  tandem::runtime_options options = two_threads();
  std::atomic<int> reports{0};
  options.on_unhandled_exception = [&reports](const std::exception_ptr&) { ++reports; };
  tandem::runtime rt(options);
  auto fails = rt.spawn([]() -> task<void> {
    co_await tandem::yield();
    throw std::runtime_error("nobody takes this");
  }());
  while (!fails.is_done()) std::this_thread::yield();
  EXPECT_EQ(in_child([&fails] {
              fails.detach();
              return 0;
            }),
            0);
  EXPECT_EQ(reports.load(), 0);
  fails.detach();
  while (reports.load() == 0) std::this_thread::yield();
}

}  // namespace
