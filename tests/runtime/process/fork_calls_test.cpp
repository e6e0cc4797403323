// fork_calls_test.cpp: every public call on a parent's pool and executors returns or throws; none waits.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <tandem/blocking.hpp>
#include <tandem/fair_scheduler.hpp>
#include <tandem/pool_view.hpp>
#include <tandem/priority_scheduler.hpp>
#include <tandem/run.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/strand.hpp>
#include <tandem/sync_wait.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "fork_support.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::fair_queue;
using tandem::fair_scheduler;
using tandem::priority;
using tandem::priority_scheduler;
using tandem::single_thread_executor;
using tandem::strand;
using tandem::task;
using tandem::test::child_may_allocate;
using tandem::test::in_child;
using tandem::test::refused;
using tandem::test::terminates;
using tandem::test::with_threads;

task<int> answer() { co_return 42; }

/// A call, and what its refusal begins with.
class named_call {
 public:
  named_call(std::string what, std::function<void()> use)
      : name(std::move(what)), call(std::move(use)) {}
  std::string name;
  std::function<void()> call;
};

/// In a child: how many of them are not refused by name. Says which.
int not_refused(const std::vector<named_call>& calls) {
  int failures = 0;
  for (const named_call& each : calls) {
    if (refused(each.name, each.call)) continue;
    std::fprintf(stderr, "not refused: %s\n", each.name.c_str());
    ++failures;
  }
  return failures;
}

TEST(fork_calls, whatever_asks_or_changes_a_parents_pool_is_refused_by_name) {
  tandem::runtime rt(with_threads(2));
  ASSERT_EQ(rt.spawn(answer()).wait(), 42);
  tandem::blocking_pool& blocking = rt.use_service<tandem::blocking_pool>();
  tandem::worker_pool& pool = rt.workers();
  const tandem::pool_view view = pool.view();
  tandem::pool_change change;
  change.max_threads = 8;
  const std::vector<named_call> calls = {
      {"worker_pool::stats", [&] { (void)pool.stats(); }},
      {"worker_pool::stats", [&] { (void)view.stats(); }},
      {"worker_pool::describe", [&] { (void)pool.describe(); }},
      {"worker_pool::describe", [&] { (void)view.describe(); }},
      {"worker_pool::decisions", [&] { (void)pool.decisions(); }},
      {"worker_pool::decisions", [&] { (void)view.decisions(); }},
      {"worker_pool::options", [&] { (void)pool.options(); }},
      {"worker_pool::reconfigure", [&] { pool.reconfigure(change); }},
      {"worker_pool::submit", [&] { pool.submit(answer()).detach(); }},
      {"worker_pool::submit", [&] { view.submit(answer()).detach(); }},
      {"worker_pool::shutdown_now", [&] { (void)pool.shutdown_now(); }},
      {"worker_pool::await_termination", [&] { (void)pool.await_termination(1h); }},
      {"runtime::metrics", [&] { (void)rt.metrics(); }},
      {"runtime::use_service", [&] { (void)rt.use_service<tandem::blocking_pool>(); }},
      {"blocking_pool::stats", [&] { (void)blocking.stats(); }},
      {"runtime::run_until_idle", [&] { (void)rt.run_until_idle(); }},
      {"runtime::poll", [&] { (void)rt.poll(); }},
      {"runtime::run_for", [&] { rt.run_for(1ns); }},
      {"runtime::native_handle", [&] { (void)rt.native_handle(); }},
  };
  EXPECT_EQ(in_child([&] { return not_refused(calls); }), 0);
  EXPECT_EQ(rt.spawn(answer()).wait(), 42);
  EXPECT_EQ(pool.state(), tandem::pool_state::running);
}

TEST(fork_calls, what_only_reads_a_value_works_and_what_cannot_throw_does_nothing) {
  tandem::runtime rt(with_threads(2));
  ASSERT_EQ(rt.spawn(answer()).wait(), 42);
  tandem::blocking_pool& blocking = rt.use_service<tandem::blocking_pool>();
  // A waiter has the result before the task is counted out: what the child counts is what the
  // parent had when it forked.
  ASSERT_TRUE(rt.drain(1h));
  const auto before = rt.now();
  EXPECT_EQ(in_child([&] {
              tandem::worker_pool& pool = rt.workers();
              if (pool.size() != 2 || pool.view().size() != 2) return 1;
              if (pool.name() != "tandem" || pool.view().name() != "tandem") return 2;
              if (pool.owner() != &rt || pool.is_current()) return 3;
              if (rt.options().min_threads != 2 || rt.live_tasks() != 0) return 4;
              if (rt.now() < before) return 5;
              if (rt.find_service<tandem::blocking_pool>() != &blocking) return 6;
              if (pool.prestart_core_thread()) return 7;
              if (pool.prestart_all_core_threads() != 0) return 8;
              pool.shutdown();
              if (pool.state() != tandem::pool_state::running) return 9;
              return 0;
            }),
            0);
}

TEST(fork_calls, a_parents_runtime_without_threads_is_not_run_in_the_child) {
  tandem::runtime rt(with_threads(0));
  ASSERT_EQ(tandem::sync_wait(rt.workers(), answer()), 42);
  auto queued = rt.spawn(answer());
  const std::vector<named_call> calls = {
      {"runtime::run_until_idle", [&] { (void)rt.run_until_idle(); }},
      {"runtime::poll", [&] { (void)rt.poll(); }},
      {"runtime::run_for", [&] { rt.run_for(1ns); }},
      {"runtime::native_handle", [&] { (void)rt.native_handle(); }},
      {"runtime::drain", [&] { (void)rt.drain(1h); }},
      {"join_handle::wait", [&] { (void)queued.wait(); }},
      {"worker_pool::await_termination", [&] { (void)rt.workers().await_termination(1h); }},
  };
  EXPECT_EQ(in_child([&] { return not_refused(calls); }), 0);
  EXPECT_EQ(queued.wait(), 42);
}

/// One of each kind of executor over a runtime's pool.
class every_executor {
 public:
  explicit every_executor(tandem::runtime& owner)
      : own(owner),
        serial(owner.workers()),
        fair(owner.workers()),
        batch(fair.add_queue()),
        levels(owner.workers()) {}

  std::array<tandem::executor*, 4> all() {
    return {&own, &serial.executor(), &batch.executor(), &levels.level(priority::high)};
  }

  single_thread_executor own;
  strand serial;
  fair_scheduler fair;
  fair_queue batch;
  priority_scheduler levels;
};

TEST(fork_calls, executors_of_a_parent_take_no_task_and_new_ones_are_not_made) {
  tandem::runtime rt(with_threads(2));
  every_executor executors(rt);
  for (tandem::executor* each : executors.all()) {
    ASSERT_EQ(tandem::sync_wait(*each, answer()), 42);
  }
  std::vector<named_call> calls = {
      {"strand", [&] { const strand fresh(rt.workers()); }},
      {"strand", [&] { const strand fresh(executors.own); }},
      {"fair_scheduler", [&] { const fair_scheduler fresh(rt.workers()); }},
      {"fair_scheduler::add_queue", [&] { (void)executors.fair.add_queue(); }},
      {"priority_scheduler", [&] { const priority_scheduler fresh(rt.workers()); }},
      {"single_thread_executor", [&] { const single_thread_executor fresh(rt); }},
      {"single_thread_executor::join", [&] { executors.own.join(); }},
  };
  for (tandem::executor* each : executors.all()) {
    calls.emplace_back("runtime::spawn", [&rt, each] { rt.spawn(*each, answer()).detach(); });
    calls.emplace_back("runtime::spawn", [each] { (void)tandem::sync_wait(*each, answer()); });
  }
  EXPECT_EQ(in_child([&] { return not_refused(calls); }), 0);
  for (tandem::executor* each : executors.all()) {
    EXPECT_EQ(tandem::sync_wait(*each, answer()), 42) << "the parent has noticed nothing";
  }
}

TEST(fork_calls, executors_of_a_parent_tell_their_values) {
  tandem::runtime rt(with_threads(2));
  every_executor executors(rt);
  for (tandem::executor* each : executors.all()) {
    ASSERT_EQ(tandem::sync_wait(*each, answer()), 42);
  }
  EXPECT_EQ(in_child([&] {
              for (tandem::executor* each : executors.all()) {
                if (each->owner() != &rt || each->is_current() || each->name().empty()) return 1;
              }
              if (executors.fair.queue_count() != 1 || executors.fair.waiting() != 0) return 2;
              if (executors.batch.weight() != 1 || executors.batch.is_closed()) return 3;
              if (executors.batch.waiting() != 0) return 4;
              if (executors.levels.waiting(priority::high) != 0) return 5;
              executors.own.close();
              executors.batch.close();
              return executors.batch.is_closed() ? 0 : 6;
            }),
            0);
  EXPECT_FALSE(executors.batch.is_closed());
}

TEST(fork_calls, a_post_to_a_parents_executor_ends_the_child) {
  tandem::runtime rt(with_threads(2));
  every_executor executors(rt);
  for (tandem::executor* each : executors.all()) {
    ASSERT_EQ(tandem::sync_wait(*each, answer()), 42);
    const std::string what =
        each == &executors.serial.executor() ? "strand::post" : "executor::post";
    EXPECT_EQ(in_child([&] {
                return terminates(what, [each] {
                  tandem::job item([](tandem::job*) noexcept {});
                  each->post(&item);
                });
              }),
              0);
  }
}

TEST(fork_calls, executors_end_in_the_child_without_the_parents_threads) {
  if (!child_may_allocate) GTEST_SKIP() << "the sanitizer's allocator does not survive a fork";
  tandem::runtime rt(with_threads(2));
  std::optional<every_executor> executors(std::in_place, rt);
  std::optional<strand> over(std::in_place, executors->own);
  for (tandem::executor* each : executors->all()) {
    ASSERT_EQ(tandem::sync_wait(*each, answer()), 42);
  }
  EXPECT_EQ(in_child([&] {
              executors.reset();
              over.reset();
              return tandem::run(answer(), with_threads(2)) == 42 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(tandem::sync_wait(over->executor(), answer()), 42);
}

TEST(fork_calls, a_fork_amid_busy_schedulers_lets_the_child_give_up_its_queues) {
  if (!child_may_allocate) GTEST_SKIP() << "the sanitizer's allocator does not survive a fork";
  tandem::runtime rt(with_threads(2));
  fair_scheduler fair(rt.workers());
  std::atomic<bool> enough{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 3; ++i) {
    // Its lock is held most of the time.
    busy.emplace_back([&] {
      while (!enough) {
        std::vector<fair_queue> many(64);
        for (fair_queue& each : many) each = fair.add_queue();
      }
    });
  }
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    std::optional<fair_queue> one(fair.add_queue());
    std::optional<fair_scheduler> last(std::in_place, rt.workers());
    std::optional<fair_queue> alone(last->add_queue());
    EXPECT_EQ(in_child([&] {
                one.reset();
                alone.reset();
                last.reset();
                return 0;
              }),
              0);
  }
  enough = true;
  for (std::thread& each : busy) each.join();
}

}  // namespace
