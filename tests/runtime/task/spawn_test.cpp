// spawn_test.cpp: handles, cancelling, detaching, and failures that nobody takes.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/worker_pool.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::cancel_result;
using tandem::join_handle;
using tandem::task;
using tandem::test::test_runtime;

task<int> number(int n) { co_return n; }
task<void> sleeps_for_ever() { co_await tandem::sleep_for(10h); }
task<void> fails() {
  co_await tandem::yield();
  throw std::runtime_error("nobody wants me");
}

TEST(spawn, a_task_awaiting_its_child_on_a_one_thread_pool_completes) {
  test_runtime rt(1);
  const int got = rt.run([]() -> task<int> {
    auto outer = tandem::spawn([]() -> task<int> {
      auto inner = tandem::spawn(number(20));
      co_return 1 + co_await inner;
    }());
    co_return 2 * co_await outer;
  }());
  EXPECT_EQ(got, 42);
}

TEST(spawn, outside_any_task_says_what_to_use_instead) {
  try {
    (void)tandem::spawn(number(1));
    FAIL() << "nothing was thrown";
  } catch (const std::logic_error& e) {
    EXPECT_NE(std::string(e.what()).find("tandem::run"), std::string::npos) << e.what();
  }
}

TEST(spawn, the_failure_of_a_task_is_rethrown_where_it_is_awaited) {
  test_runtime rt;
  EXPECT_THROW(rt->spawn(fails()).wait(), std::runtime_error);
  rt.run([]() -> task<void> {
    auto handle = tandem::spawn(fails());
    const auto got = co_await tandem::as_result(handle.operator co_await());
    EXPECT_TRUE(got.exception() != nullptr);
  }());
}

TEST(spawn, cancel_tells_removed_before_start_stop_requested_and_already_done) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    auto done = tandem::spawn(number(1));
    while (!done.is_done()) co_await tandem::yield();
    EXPECT_EQ(done.cancel(), cancel_result::already_done);
    EXPECT_EQ(co_await done, 1);

    // One worker, and this task has it: the next one cannot have started.
    bool ran = false;
    auto waiting = tandem::spawn([](bool& r) -> task<void> {
      r = true;
      co_return;
    }(ran));
    EXPECT_EQ(waiting.cancel(), cancel_result::removed_before_start);
    EXPECT_TRUE((co_await tandem::as_result(waiting.operator co_await())).is_cancelled());
    EXPECT_FALSE(ran);

    auto running = tandem::spawn(sleeps_for_ever());
    for (int i = 0; i < 10; ++i) co_await tandem::yield();
    EXPECT_EQ(running.cancel(), cancel_result::stop_requested);
    try {
      co_await running;
      ADD_FAILURE() << "the sleep was not cancelled";
    } catch (const tandem::operation_cancelled& e) {
      EXPECT_EQ(e.reason(), tandem::stop_reason::user);
    }
  }());
}

TEST(spawn, stopping_the_waiting_task_ends_the_wait_and_not_the_awaited_task) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tandem::event go;
    auto slow = tandem::spawn([](tandem::event& waited) -> task<int> {
      co_await waited;
      co_return 9;
    }(go));
    const auto waits = [](join_handle<int>& handle) -> task<int> { co_return co_await handle; };
    const auto got = co_await tandem::as_result(tandem::with_timeout(1ms, waits(slow)));
    EXPECT_TRUE(got.is_cancelled());
    go.set();
    EXPECT_EQ(co_await slow, 9);
  }());
}

TEST(spawn, a_dropped_handle_detaches_and_the_runtime_still_counts_the_task) {
  test_runtime rt;
  std::atomic<bool> ran{false};
  rt.run([](std::atomic<bool>& r) -> task<void> {
    (void)tandem::spawn([](std::atomic<bool>& done) -> task<void> {
      co_await tandem::sleep_for(10ms);
      done.store(true);
    }(r));
    co_return;
  }(ran));
  EXPECT_TRUE(rt->drain(10s));
  EXPECT_TRUE(ran.load());
  EXPECT_EQ(rt->live_tasks(), 0U);
}

TEST(spawn, the_failure_of_a_detached_task_reaches_the_handler_exactly_once) {
  std::mutex lock;
  std::vector<std::string> seen;
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.on_unhandled_exception = [&](const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& e) {
      const std::lock_guard guard(lock);
      seen.emplace_back(e.what());
    }
  };
  {
    test_runtime rt(options);
    rt.run([]() -> task<void> {
      (void)tandem::spawn(fails());  // dropped before the failure
      auto late = tandem::spawn(fails());
      while (!late.is_done()) co_await tandem::yield();
      late.detach();  // dropped after the failure
      auto taken = tandem::spawn(fails());
      EXPECT_THROW(co_await taken, std::runtime_error);  // taken: not the handler's
      auto cancelled = tandem::spawn(sleeps_for_ever());
      (void)cancelled.cancel();  // a cancellation that was asked for is no failure
    }());
    EXPECT_TRUE(rt->drain(10s));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"nobody wants me", "nobody wants me"}));
}

TEST(spawn_death, without_a_handler_a_detached_failure_is_reported_and_terminates) {
  EXPECT_DEATH(
      {
        test_runtime rt;
        rt.run([]() -> task<void> {
          (void)tandem::spawn(fails());
          co_return;
        }());
        rt->drain(10s);
      },
      "nobody wants me");
}

TEST(spawn_death, taking_an_outcome_twice_says_so) {
  EXPECT_DEATH(
      {
        test_runtime rt;
        auto handle = rt->spawn(number(1));
        handle.wait();
        handle.wait();
      },
      "taken twice");
}

TEST(spawn, another_home_is_where_the_task_runs) {
  test_runtime rt(1);
  test_runtime other(1);
  rt.run([](tandem::worker_pool& target) -> task<void> {
    // The block belongs to this runtime, the work is done over there.
    auto handle = tandem::spawn(
        target, [](tandem::worker_pool& t) -> task<bool> { co_return t.is_current(); }(target));
    EXPECT_TRUE(co_await handle);
  }(other.workers()));
}

TEST(spawn, an_environment_knows_id_runtime_and_the_place_of_the_spawn) {
  test_runtime rt;
  rt.run([](tandem::runtime& owner) -> task<void> {
    const tandem::environment* const env = tandem::current_environment();
    EXPECT_NE(env, nullptr);
    EXPECT_EQ(env->runtime(), &owner);
    EXPECT_NE(env->id(), 0U);
    const auto place = []() -> task<std::pair<std::uint64_t, std::uint_least32_t>> {
      const tandem::environment* const mine = tandem::current_environment();
      co_return std::pair(mine->id(), mine->spawned_at().line());
    };
    const auto line = std::source_location::current().line() + 1;
    auto handle = tandem::spawn(place());
    const auto [id, spawned_line] = co_await handle;
    EXPECT_NE(id, env->id());
    EXPECT_EQ(spawned_line, line);
  }(*rt));
  EXPECT_EQ(tandem::current_environment(), nullptr);
}

task<int> spawns_and_joins(int depth) {
  if (depth == 0) co_return 1;
  auto left = tandem::spawn(spawns_and_joins(depth - 1));
  auto right = tandem::spawn(spawns_and_joins(depth - 1));
  const int sum = co_await right;
  co_return sum + co_await left;
}

TEST(spawn, a_task_that_is_joined_while_it_is_queued_runs_on_the_joiners_stack) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    bool ran = false;
    auto handle = tandem::spawn([](bool& flag) -> task<int> {
      flag = true;
      EXPECT_NE(tandem::current_environment(), nullptr);
      co_return 7;
    }(ran));
    const tandem::environment* const mine = tandem::current_environment();
    EXPECT_FALSE(ran);
    EXPECT_EQ(co_await handle, 7);
    EXPECT_EQ(tandem::current_environment(), mine);
  }());
  for (const unsigned threads : {1U, 2U, 4U}) {
    test_runtime more(threads);
    EXPECT_EQ(more.run(spawns_and_joins(12)), 1 << 12) << threads;
  }
}

TEST(spawn, joining_again_and_again_lets_others_run) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    bool served = false;
    auto other = tandem::spawn([](bool& flag) -> task<void> {
      co_await tandem::yield();
      flag = true;
    }(served));
    // Endless unless the joins use up their budget.
    while (!served) co_await tandem::spawn(number(1));
    co_await other;
  }());
}

// joining/run_queued and joins/next: what a joined task leaves in the lane when it suspends must
// not be taken for a child of the fork around the join.
TEST(spawn, a_joined_task_may_fork_and_suspend_inside_a_fork) {
  struct work {
    static task<int> leaf(int i) {
      if (i % 3 == 0) co_await tandem::yield();
      if (i % 7 == 0) co_await tandem::sleep_for(10us);
      co_return 1;
    }
    static task<int> forks(int i) {
      auto [a, b, c] = co_await tandem::fork_join(leaf(i), leaf(i + 1), leaf(i + 2));
      co_return a + b + c;
    }
    static task<int> joins(int i) {
      auto handle = tandem::spawn(forks(i));
      co_return co_await handle;
    }
    static task<int> outer(int i) {
      auto [a, b, c, d] = co_await tandem::fork_join(joins(i), leaf(i), joins(i + 1), leaf(i + 2));
      co_return a + b + c + d;
    }
  };
  for (const unsigned threads : {1U, 2U, 4U}) {
    test_runtime rt(threads);
    for (int i = 0; i < 300; ++i) EXPECT_EQ(rt.run(work::outer(i)), 8);
  }
}

TEST(spawn, a_cancel_and_a_join_that_meet_end_the_task_once) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    for (int i = 0; i < 2000; ++i) {
      auto target = tandem::spawn(number(i));
      auto canceller = tandem::spawn([](join_handle<int>& handle) -> task<void> {
        (void)handle.cancel();
        co_return;
      }(target));
      auto got = co_await tandem::as_result(target);
      if (got) {
        EXPECT_EQ(std::move(got).value(), i);
      } else {
        EXPECT_TRUE(got.is_cancelled());
      }
      co_await canceller;
    }
  }());
}

TEST(spawn, a_callable_and_its_arguments_live_until_the_task_has_ended) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto token = std::make_shared<std::string>("a string too long for the small buffer");
    const auto reads = [token](const std::string& more) -> task<std::size_t> {
      co_await tandem::yield();
      co_return token->size() + more.size();
    };
    auto first = tandem::spawn(reads, std::string("12345"));
    EXPECT_EQ(co_await first, token->size() + 5);
    auto second = tandem::spawn(tandem::workers(), reads, std::string("1"));
    EXPECT_EQ(co_await second, token->size() + 1);
    int factor = 3;
    auto third = tandem::spawn([factor]() -> task<int> {
      co_await tandem::yield();
      co_return 14 * factor;
    });
    EXPECT_EQ(co_await third, 42);
  }());
}

TEST(workers, are_the_current_runtimes_wherever_its_task_runs) {
  test_runtime rt;
  rt.run([](tandem::worker_pool& pool) -> task<void> {
    EXPECT_EQ(&tandem::workers(), &pool);
    co_await tandem::resume_on(tandem::workers());
    EXPECT_TRUE(tandem::workers().is_current());
  }(rt.workers()));
}

TEST(workers, outside_any_task_there_are_none) {
  const test_runtime rt;
  try {
    (void)tandem::workers();
    ADD_FAILURE() << "there is no current runtime";
  } catch (const std::logic_error& refused) {
    EXPECT_NE(std::string(refused.what()).find("tandem::workers"), std::string::npos);
  }
}

}  // namespace
