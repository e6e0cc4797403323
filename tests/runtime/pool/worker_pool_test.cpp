// worker_pool_test.cpp: starting, lanes, fairness, waking and parking of workers.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <set>
#include <string>
#include <tandem/cpu_count.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/worker_pool.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "system.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::task;
using tandem::test::test_runtime;

/// A job that calls a function; for tests that talk to the executor directly.
class counting_job : public tandem::job {
 public:
  explicit counting_job(std::function<void()> body)
      : tandem::job([](tandem::job* self) noexcept { static_cast<counting_job*>(self)->body_(); }),
        body_(std::move(body)) {}

 private:
  std::function<void()> body_;
};

TEST(worker_pool, has_no_thread_before_its_first_item) {
  test_runtime rt(4);
  EXPECT_EQ(rt.workers().stats().threads, 0U);
  rt.run([]() -> task<void> { co_return; }());
  EXPECT_GE(rt.workers().stats().threads, 1U);
  EXPECT_LE(rt.workers().stats().threads, 4U);
  EXPECT_EQ(rt.workers().size(), 4U);
}

TEST(worker_pool, starts_further_workers_only_while_there_is_work_for_them) {
  test_runtime rt(3);
  std::atomic<int> inside{0};
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < 3; ++i) {
    handles.push_back(rt->spawn([](std::atomic<int>& count) -> task<void> {
      ++count;
      while (count.load() < 3) std::this_thread::yield();  // needs three threads at once
      co_return;
    }(inside)));
  }
  for (auto& handle : handles) handle.wait();
  EXPECT_EQ(rt.workers().stats().threads, 3U);
}

// Two tasks that wake each other for ever live in the next slot; fairness lets the old item
// through.
TEST(worker_pool, a_ping_pong_pair_does_not_starve_an_old_item_on_one_worker) {
  std::atomic<bool> old_ran{false};
  std::atomic<long> rounds{0};
  counting_job* other = nullptr;
  tandem::worker_pool* pool = nullptr;
  counting_job ping([&] {
    ++rounds;
    if (!old_ran.load()) pool->post(other, tandem::post_kind::resume);
  });
  counting_job pong([&] {
    if (!old_ran.load()) pool->post(&ping, tandem::post_kind::resume);
  });
  other = &pong;
  counting_job old([&] { old_ran.store(true); });
  counting_job first([&] {
    pool->post(&old, tandem::post_kind::spawn);
    pool->post(&ping, tandem::post_kind::resume);
  });
  test_runtime rt(1);  // after the jobs: its threads end before they do
  pool = &rt.workers();
  pool->post(&first);
  while (!old_ran.load()) std::this_thread::yield();
  EXPECT_LE(rounds.load(), 61);
}

TEST(worker_pool, a_stream_of_local_items_does_not_starve_the_injection_queue) {
  test_runtime rt(1);
  std::atomic<bool> injected_ran{false};
  auto busy = rt->spawn([](std::atomic<bool>& end) -> task<long> {
    long turns = 0;
    while (!end.load()) {
      ++turns;
      co_await tandem::yield();
    }
    co_return turns;
  }(injected_ran));
  rt->spawn([](std::atomic<bool>& end) -> task<void> {
      end.store(true);
      co_return;
    }(injected_ran))
      .wait();
  EXPECT_GE(busy.wait(), 0);
}

TEST(worker_pool, yielding_tasks_take_turns_in_order) {
  test_runtime rt(1);
  std::string order;
  rt.run([](std::string& out) -> task<void> {
    const auto letter = [](std::string& o, char c) -> task<void> {
      for (int i = 0; i < 3; ++i) {
        o += c;
        co_await tandem::yield();
      }
    };
    auto a = tandem::spawn(letter(out, 'a'));
    auto b = tandem::spawn(letter(out, 'b'));
    auto c = tandem::spawn(letter(out, 'c'));
    co_await a;
    co_await b;
    co_await c;
  }(order));
  EXPECT_EQ(order, "abcabcabc");
}

TEST(worker_pool, a_batch_from_outside_needs_one_wake_and_runs_whole) {
  std::atomic<int> ran{0};
  std::vector<std::unique_ptr<counting_job>> jobs;
  test_runtime rt(2);  // after the jobs: its threads end before they do
  rt.run([]() -> task<void> { co_return; }());
  tandem::job_list batch;
  for (int i = 0; i < 1000; ++i) {
    jobs.push_back(std::make_unique<counting_job>([&] { ++ran; }));
    batch.push_back(jobs.back().get());
  }
  rt.workers().post_batch(batch);
  while (ran.load() < 1000) std::this_thread::yield();
  EXPECT_EQ(ran.load(), 1000);
}

TEST(worker_pool, idle_workers_park_and_say_so) {
  test_runtime rt(2);
  rt.run([]() -> task<void> { co_return; }());
  while (rt.workers().stats().idle < rt.workers().stats().threads) std::this_thread::yield();
  const std::string text = rt.workers().describe();
  EXPECT_NE(text.find("parked"), std::string::npos) << text;
  EXPECT_EQ(rt.workers().stats().queued, 0U);
}

TEST(worker_pool, work_spreads_over_all_workers) {
  test_runtime rt(2);
  std::atomic<int> inside{0};
  rt.run([](std::atomic<int>& count) -> task<void> {
    const auto meet = [](std::atomic<int>& c) -> task<void> {
      ++c;
      while (c.load() < 2) std::this_thread::yield();  // ends only if both run at once
      co_return;
    };
    auto a = tandem::spawn(meet(count));
    auto b = tandem::spawn(meet(count));
    co_await a;
    co_await b;
  }(inside));
  EXPECT_EQ(inside.load(), 2);
}

TEST(cpu_count, is_at_least_one_and_at_most_what_the_machine_has) {
  EXPECT_GE(tandem::usable_cpus(), 1U);
  EXPECT_LE(tandem::usable_cpus(), std::max(1U, std::thread::hardware_concurrency()));
}

// Found by review: each yield asked for attention, and so went in front of the forked sibling
// again.
TEST(worker_pool, a_task_that_yields_in_a_loop_lets_its_forked_sibling_run) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    bool told = false;
    int yields = 0;
    co_await tandem::fork_join(
        [](bool& flag, int& count) -> task<void> {
          while (!flag) {
            co_await tandem::yield();
            ++count;
          }
        }(told, yields),
        [](bool& flag) -> task<void> {
          flag = true;
          co_return;
        }(told));
    EXPECT_LE(yields, 3);
  }());
}

}  // namespace
