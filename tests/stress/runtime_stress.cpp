// runtime_stress.cpp: random trees of tasks that fork, spawn, sleep, yield, fail and are stopped.
// SPDX-License-Identifier: MIT
//
// The laws: every task that was started ends, a join waits for all its children, every run ends in
// bounded time, and afterwards nothing is alive.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <tandem/as_result.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

#include "planned_failure.hpp"
#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::mix;
using tandem::test::planned_failure;
using tandem::test::stress;
using tandem::test::test_runtime;

/// What a tree counts; `random` is split per task, so a tree is a function of its seed.
struct tree {
  std::atomic<long> begun{0};
  std::atomic<long> ended{0};
  unsigned failure_per_mille = 0;
};

class begun_and_ended {
 public:
  explicit begun_and_ended(tree& counts) : counts_(counts) { ++counts_.begun; }
  ~begun_and_ended() { ++counts_.ended; }
  begun_and_ended(const begun_and_ended&) = delete;
  begun_and_ended& operator=(const begun_and_ended&) = delete;

 private:
  tree& counts_;
};

task<void> grow(tree& counts, std::uint64_t seed, int depth) {
  const begun_and_ended here(counts);
  const std::uint64_t dice = mix(seed);
  if (dice % 1000 < counts.failure_per_mille) throw planned_failure();
  switch ((dice >> 10) % 4) {
    case 0: co_await tandem::yield(); break;
    case 1: co_await tandem::sleep_for(std::chrono::microseconds((dice >> 20) % 200)); break;
    default: break;
  }
  if (depth == 0) co_return;
  switch ((dice >> 32) % 5) {
    case 0:
    case 1:
      co_await tandem::fork_join(grow(counts, dice + 1, depth - 1),
                                 grow(counts, dice + 2, depth - 1),
                                 grow(counts, dice + 3, depth - 1));
      break;
    case 2: {
      co_await tandem::with_scope([&counts, dice, depth](tandem::task_scope& scope) -> task<void> {
        for (std::uint64_t i = 0; i < 3; ++i) scope.spawn(grow(counts, dice + i, depth - 1));
        if (dice % 7 == 0) scope.request_stop();
        if (dice % 2 == 0) co_await scope.join();
      });
      break;
    }
    case 3:
      (void)co_await tandem::as_result(tandem::with_timeout(
          std::chrono::microseconds((dice >> 40) % 300), grow(counts, dice + 1, depth - 1)));
      break;
    default: {
      auto handle = tandem::spawn(grow(counts, dice + 1, depth - 1));
      if (dice % 3 == 0) (void)handle.cancel();
      (void)co_await tandem::as_result(handle.operator co_await());
      break;
    }
  }
}

void run_trees(unsigned threads, unsigned failures) {
  stress([&](std::mt19937_64& random) {
    tandem::runtime_options options = tandem::test::with_threads(threads);
    options.on_suppressed_exception = [](const std::exception_ptr&) {};
    options.on_unhandled_exception = [](const std::exception_ptr&) {};
    test_runtime rt(options);
    tree counts;
    counts.failure_per_mille = failures;
    for (int i = 0; i < 10; ++i) {
      auto handle = rt->spawn(grow(counts, random(), 6));
      if (random() % 4 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
        (void)handle.cancel();
      }
      if (random() % 4 == 0) continue;  // detached
      try {
        handle.wait();
      } catch (const planned_failure&) {
      } catch (const tandem::operation_cancelled&) {}
    }
    ASSERT_TRUE(rt->drain(60s));
    EXPECT_EQ(counts.begun.load(), counts.ended.load());
    EXPECT_EQ(rt->live_tasks(), 0U);
  });
}

TEST(runtime, trees_of_tasks_end_on_one_worker) { run_trees(1, 0); }
TEST(runtime, trees_of_tasks_end_on_two_workers) { run_trees(2, 0); }
TEST(runtime, trees_that_fail_here_and_there_end_on_four_workers) { run_trees(4, 10); }

TEST(runtime, shutdown_at_any_moment_ends_every_task) {
  stress([](std::mt19937_64& random) {
    tree counts;
    {
      tandem::runtime_options options =
          tandem::test::with_threads(static_cast<unsigned>(1 + random() % 3));
      options.on_suppressed_exception = [](const std::exception_ptr&) {};
      options.on_unhandled_exception = [](const std::exception_ptr&) {};
      test_runtime rt(options);
      for (int i = 0; i < 3; ++i) (void)rt->spawn(grow(counts, random(), 5));
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
    EXPECT_EQ(counts.begun.load(), counts.ended.load());
  });
}

// A worker that goes to sleep while the only other thread posts: a lost wake-up would hang here.
TEST(worker_pool, no_wake_up_is_lost_between_a_post_and_a_park) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(2);
    for (int i = 0; i < 200; ++i) {
      const auto pause = random() % 40;
      for (std::uint64_t k = 0; k < pause * 20; ++k)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      EXPECT_EQ(rt->spawn([](int x) -> task<int> {
                    auto child = tandem::spawn([](int y) -> task<int> { co_return y; }(x));
                    co_return co_await child;
                  }(i))
                    .wait(),
                i);
    }
  });
}

TEST(timers, a_timer_that_races_with_its_stop_ends_the_wait_once) {
  stress([](std::mt19937_64& random) {
    test_runtime rt(2);
    const auto limit = std::chrono::microseconds(20 + random() % 60);
    rt.run([](std::chrono::microseconds l) -> task<void> {
      for (int i = 0; i < 200; ++i) {
        const auto inner = [](std::chrono::microseconds w) -> task<void> {
          co_await tandem::sleep_for(w);
        };
        (void)co_await tandem::as_result(tandem::with_timeout(l, inner(l)));
      }
    }(limit));
  });
}

}  // namespace
