// caller_runs_test.cpp: threads on which a full pool's submission is refused instead of run.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <tandem/io/install.hpp>
#include <tandem/pool_change.hpp>
#include <tandem/rejected.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/runtime.hpp>
#include <tandem/single_thread_executor.hpp>
#include <thread>

#include "io/support/io_support.hpp"
#include "waits.hpp"

namespace {

using tandem::queue_kind;
using tandem::rejected;
using tandem::rejection_cause;
using tandem::runtime_options;
using tandem::saturation_policy;
using tandem::task;
using tandem::worker_pool;
using tandem::test::test_runtime;

runtime_options one_place_where_callers_run() {
  runtime_options options;
  options.min_threads = 1;
  options.max_threads = 1;
  options.submissions.queue = queue_kind::bounded;
  options.submissions.capacity = 1;
  options.submissions.when_saturated = saturation_policy::caller_runs;
  return options;
}

task<void> wait_for(tandem::test::flag& open, tandem::test::flag* begun) {
  if (begun != nullptr) *begun = true;
  open.wait(false);  // it keeps its worker
  co_return;
}

/// Its worker is kept, and its one place taken, until the test's end.
class full_pool {
 public:
  full_pool()
      : rt(one_place_where_callers_run()), running_(rt.workers().submit(wait_for(open_, &begun_))) {
    begun_.wait(false);
    queued_ = rt.workers().submit(wait_for(open_, nullptr));
  }
  full_pool(const full_pool&) = delete;
  full_pool& operator=(const full_pool&) = delete;
  ~full_pool() {
    open_ = true;
    running_.wait();
    queued_.wait();
  }

 private:
  tandem::test::flag open_;
  tandem::test::flag begun_;

 public:
  test_runtime rt;

 private:
  tandem::join_handle<void> running_;
  tandem::join_handle<void> queued_;
};

/// @returns  whether the pool refused it as full, as by saturation_policy::abort; else it ran, or
///           waits to
bool is_refused_here(worker_pool& pool, std::atomic<int>& ran) {
  try {
    pool.submit([](std::atomic<int>& count) -> task<void> {
          ++count;
          co_return;
        }(ran))
        .detach();
  } catch (const rejected& why) {
    return why.cause() == rejection_cause::full;
  }
  return false;
}

task<bool> refused_in_a_task(worker_pool& pool, std::atomic<int>& ran) {
  co_return is_refused_here(pool, ran);
}

TEST(caller_runs, on_a_thread_outside_of_all_pools_the_caller_runs) {
  full_pool full;
  std::atomic<int> ran{0};
  EXPECT_FALSE(is_refused_here(full.rt.workers(), ran));
  EXPECT_EQ(ran.load(), 1);
}

TEST(caller_runs, on_a_completion_thread_it_is_abort) {
  full_pool full;
  std::atomic<int> ran{0};
  auto& completions = tandem::io::install(*full.rt, tandem::test::threads_between(2, 2));
  for (unsigned i = 0; i < completions.size(); ++i) {
    auto on_thread =
        full.rt->spawn(completions.thread(i).executor(), refused_in_a_task(full.rt.workers(), ran));
    EXPECT_TRUE(on_thread.wait());
  }
  auto anywhere = full.rt->spawn(completions.executor(), refused_in_a_task(full.rt.workers(), ran));
  EXPECT_TRUE(anywhere.wait());
  EXPECT_EQ(ran.load(), 0);
}

TEST(caller_runs, on_a_thread_of_another_executor_it_is_abort) {
  full_pool full;
  std::atomic<int> ran{0};
  {
    tandem::single_thread_executor thread(*full.rt, "alone");
    auto alone = full.rt->spawn(thread, refused_in_a_task(full.rt.workers(), ran));
    EXPECT_TRUE(alone.wait());
  }
  test_runtime other;
  EXPECT_TRUE(other.run(refused_in_a_task(full.rt.workers(), ran)));
  EXPECT_EQ(ran.load(), 0);
}

TEST(caller_runs, from_outside_a_runtime_without_threads_it_is_abort) {
  runtime_options options = one_place_where_callers_run();
  options.min_threads = 0;
  tandem::runtime rt(options);
  std::atomic<int> ran{0};
  EXPECT_FALSE(is_refused_here(rt.workers(), ran));  // the one place
  EXPECT_EQ(ran.load(), 0);
  EXPECT_TRUE(is_refused_here(rt.workers(), ran));
  bool on_another_thread = false;
  std::thread other([&] { on_another_thread = is_refused_here(rt.workers(), ran); });
  other.join();
  EXPECT_TRUE(on_another_thread);
  rt.run_until_idle();
  EXPECT_EQ(ran.load(), 1);
}

}  // namespace
