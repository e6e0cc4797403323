// thread_hooks_test.cpp: what workers are called, where they run, what they do first and last.
// SPDX-License-Identifier: MIT
#include <tandem/thread_options.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tandem/errors.hpp>
#include <tandem/runtime.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "recording_runtime.hpp"
#include "runtime/pool/thread_support.hpp"
#include "runtime/support/submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::cpu_placement;
using tandem::growth_order;
using tandem::join_handle;
using tandem::runtime_options;
using tandem::task;

TEST(thread_hooks, workers_are_named_after_the_pool_and_their_number) {
  runtime_options options = pool_of(3, 3, growth_order::demand);
  options.name = "press";
  journal names;
  options.threads.on_start = [&](unsigned worker) {
    names.write(name_of_this_thread() + " is " + std::to_string(worker));
  };
  test_runtime rt(options);
  EXPECT_EQ(rt.workers().prestart_all_core_threads(), 3U);
  wait_until([&] { return names.read().size() == 3; });
  auto seen = names.read();
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, (std::vector<std::string>{"press-0 is 0", "press-1 is 1", "press-2 is 2"}));
}

TEST(thread_hooks, hooks_run_first_and_last_on_each_worker) {
  journal lines;
  {
    runtime_options options = pool_of(1, 1, growth_order::demand);
    options.threads.on_start = [&](unsigned worker) {
      lines.write("start " + std::to_string(worker));
    };
    options.threads.on_exit = [&](unsigned worker) {
      lines.write("exit " + std::to_string(worker));
    };
    options.on_terminated = [&] { lines.write("terminated"); };
    test_runtime rt(options);
    rt.run([](journal& to) -> task<void> {
      to.write("item");
      co_return;
    }(lines));
  }
  EXPECT_EQ(lines.read(), (std::vector<std::string>{"start 0", "item", "exit 0", "terminated"}));
}

TEST(thread_hooks, every_thread_that_started_exits_before_the_pool_has_terminated) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> started{0};
    std::atomic<int> exited{0};
    int exited_at_end = -1;
    runtime_options options = pool_of(1, 6, growth_order::threads_first);
    options.keep_alive = 1us;  // some retire meanwhile
    options.threads.on_start = [&](unsigned) { ++started; };
    options.threads.on_exit = [&](unsigned) { ++exited; };
    options.on_terminated = [&] { exited_at_end = exited; };
    test_runtime rt(options);
    std::atomic<int> ran{0};
    std::vector<join_handle<void>> handles;
    for (int i = 0; i < 40; ++i) handles.push_back(rt.workers().submit(count_up(ran)));
    for (auto& each : handles) each.wait();
    rt.workers().shutdown();
    ASSERT_TRUE(rt.workers().await_termination(1h));
    EXPECT_GE(started.load(), 1);
    EXPECT_EQ(exited.load(), started.load());
    EXPECT_EQ(exited_at_end, started.load());
  }
}

TEST(thread_hooks, a_thread_that_retires_exits_before_its_number_is_used_again) {
  std::atomic<int> inside{0};
  std::atomic<bool> twice{false};
  runtime_options options = pool_of(1, 1, growth_order::demand);
  options.allow_core_timeout = true;
  options.keep_alive = 1us;
  options.threads.on_start = [&](unsigned worker) {
    if (worker == 0 && ++inside != 1) twice = true;
  };
  options.threads.on_exit = [&](unsigned worker) {
    if (worker == 0) --inside;
  };
  test_runtime rt(options);
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i) {
    rt.workers().submit(count_up(ran)).wait();
    wait_until([&] { return rt.workers().stats().threads == 0; });
  }
  EXPECT_FALSE(twice.load());
}

TEST(thread_hooks, what_a_hook_throws_is_reported_and_kills_no_worker) {
  runtime_options options = pool_of(1, 1, growth_order::demand);
  options.allow_core_timeout = true;
  options.keep_alive = 1ms;
  options.threads.on_start = [](unsigned) { throw std::runtime_error("start"); };
  options.threads.on_exit = [](unsigned) { throw std::runtime_error("exit"); };
  recording_runtime rt(options);
  std::atomic<int> ran{0};
  rt.run(count_up(ran));
  EXPECT_EQ(ran.load(), 1);
  wait_until([&] { return rt.suppressed() == std::vector<std::string>{"exit", "start"}; });
  rt.run(count_up(ran));
  EXPECT_EQ(ran.load(), 2);
}

TEST(thread_hooks, what_nobody_catches_on_a_worker_reaches_the_handler_of_its_runtime) {
  std::atomic<int> told{0};
  std::atomic<int> on{-1};
  runtime_options options = pool_of(2, 2, growth_order::demand);
  options.on_unhandled_exception = [&](const std::exception_ptr& failure) {
    EXPECT_THROW(std::rethrow_exception(failure), std::domain_error);
    on = tandem::current_worker_index();
    ++told;
  };
  test_runtime rt(options);
  std::atomic<int> who{-1};
  std::atomic<int> let_go{0};
  const auto fail = [&](int round) -> task<void> {
    while (let_go != round) co_await tandem::yield();
    who = tandem::current_worker_index();
    throw std::domain_error("nobody waits for this");
    co_return;
  };
  for (int i = 1; i <= 20; ++i) {
    rt->spawn(fail(i)).detach();
    let_go = i;
    wait_until([&] { return told == i && rt->live_tasks() == 0; });
    EXPECT_GE(on.load(), 0);
    EXPECT_EQ(on.load(), who.load()) << "on the thread on which it failed";
  }
  std::atomic<int> ran{0};
  rt.run(count_up(ran));
  EXPECT_EQ(ran.load(), 1);
  EXPECT_LE(rt.workers().stats().threads, 2U);
  EXPECT_EQ(rt.workers().stats().retirements, 0U) << "it has killed no worker";
}

TEST(thread_hooks, what_hooks_spawn_runs) {
  std::atomic<int> ran{0};
  {
    std::atomic<tandem::runtime*> owner{nullptr};
    runtime_options options = pool_of(2, 2, growth_order::demand);
    options.allow_core_timeout = true;
    options.keep_alive = 1ms;
    const auto spawn_one = [&](unsigned) {
      if (ran.load() > 20) return;
      try {
        owner.load()->spawn(count_up(ran)).detach();
      } catch (const tandem::runtime_stopped&) {
        return;  // it had looked before the test was over
      }
    };
    options.threads.on_start = spawn_one;
    options.threads.on_exit = spawn_one;
    test_runtime rt(options);
    owner = &*rt;
    rt.workers().prestart_core_thread();
    wait_until([&] { return ran.load() > 20; });  // each brings the next
  }
}

TEST(thread_hooks, a_hook_that_waits_for_the_runtime_is_told_so) {
  std::atomic<int> told{0};
  {
    std::atomic<tandem::runtime*> owner{nullptr};
    runtime_options options = pool_of(1, 1, growth_order::demand);
    const auto wait_for_all = [&](unsigned) {
      try {
        owner.load()->drain(1h);
      } catch (const tandem::would_deadlock&) {
        ++told;
      }
    };
    options.threads.on_start = wait_for_all;
    options.threads.on_exit = wait_for_all;
    test_runtime rt(options);
    owner = &*rt;
    rt.workers().prestart_core_thread();
  }
  EXPECT_EQ(told.load(), 2);
}

}  // namespace
