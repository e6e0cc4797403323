// fair_queue_test.cpp: shares of an executor.
// SPDX-License-Identifier: MIT
#include <tandem/fair_queue.hpp>

#include <stdexcept>
#include <string>
#include <tandem/fair_scheduler.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/strand.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/worker_pool.hpp>
#include <thread>

#include "runtime/executors/fair_stage.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using tandem::fair_queue;
using tandem::fair_scheduler;
using tandem::join_handle;
using tandem::runtime;
using tandem::task;
using tandem::test::counts;
using tandem::test::driven;
using tandem::test::loops;
using tandem::test::note;
using tandem::test::simulated;
using tandem::test::stage;
using tandem::test::test_runtime;

TEST(fair_queue, one_busy_queue_gets_every_worker) {
  constexpr unsigned workers = 4;
  test_runtime rt(workers);
  fair_scheduler fair(rt.workers());
  fair_queue only = fair.add_queue();
  // Each of them keeps a worker until all have come: less than all workers would hang.
  std::atomic<unsigned> there{0};
  std::vector<join_handle<void>> all;
  for (unsigned i = 0; i < workers; ++i) {
    all.push_back(rt->spawn(only, [](std::atomic<unsigned>& count) -> task<void> {
      ++count;
      while (count < workers) std::this_thread::yield();
      co_return;
    }(there)));
  }
  for (auto& each : all) each.wait();
  EXPECT_EQ(there, workers);
}

TEST(fair_queue, busy_queues_get_equal_shares_however_many_tasks_they_have) {
  stage s;
  std::vector<fair_queue> queues;
  for (int k = 0; k < 5; ++k) {
    queues.push_back(s.fair.add_queue());
    s.loop(queues.back(), static_cast<char>('a' + k), 1 + 7 * k);
  }
  s.run(5000);
  for (const auto& [letter, count] : counts(s.log)) {
    EXPECT_NEAR(static_cast<double>(count), 1000.0, 10.0) << letter;
  }
}

TEST(fair_queue, weights_of_three_to_one_give_three_to_one) {
  stage s;
  fair_queue heavy = s.fair.add_queue(3);
  fair_queue light = s.fair.add_queue(1);
  s.loop(light, 'l', 10);
  s.loop(heavy, 'h', 10);
  s.run(4000);
  auto of = counts(s.log);
  EXPECT_NEAR(static_cast<double>(of['h']) / static_cast<double>(of['l']), 3.0, 0.15);
}

TEST(fair_queue, a_lone_task_of_a_heavy_queue_gets_its_weight_too) {
  stage s;
  fair_queue heavy = s.fair.add_queue(3);
  fair_queue light = s.fair.add_queue(1);
  s.loop(light, 'l');
  s.loop(heavy, 'h');
  s.run(4000);
  auto of = counts(s.log);
  EXPECT_NEAR(static_cast<double>(of['h']) / static_cast<double>(of['l']), 3.0, 0.15);
}

TEST(fair_queue, every_resume_is_charged_not_only_the_first) {
  stage s;
  fair_queue looping = s.fair.add_queue();
  fair_queue fresh = s.fair.add_queue();
  s.loop(looping, 'l', 20);
  s.batch(fresh, 'f', 500);
  s.run(1000);
  EXPECT_NEAR(static_cast<double>(counts(s.log)['l']), 500.0, 10.0);
}

TEST(fair_queue, segments_of_a_strand_over_it_are_charged_one_by_one) {
  stage s;
  fair_queue queue = s.fair.add_queue();
  fair_queue other = s.fair.add_queue();
  const tandem::strand below(queue);
  const tandem::strand one(below.executor());
  for (int i = 0; i < 20; ++i) s.all.push_back(s.rt.spawn(one, loops(s.log, 's')));
  s.loop(other, 'o', 20);
  s.run(1000);
  EXPECT_NEAR(static_cast<double>(counts(s.log)['s']), 500.0, 10.0);
}

TEST(fair_queue, a_small_batch_behind_a_large_one_ends_with_its_fair_share) {
  stage s;
  fair_queue large = s.fair.add_queue();
  fair_queue small = s.fair.add_queue();
  s.batch(large, 'l', 100'000);
  s.run(1000);
  s.batch(small, 's', 100);
  s.run(100'100);
  // Its fair share is every other segment: 200 after it was posted, give or take 1 %.
  const std::size_t last = s.log.rfind('s') + 1;
  EXPECT_LE(last, 1000U + 202U);
  EXPECT_EQ(counts(s.log)['s'], 100U);
  EXPECT_EQ(counts(s.log)['l'], 100'000U);
}

TEST(fair_queue, shares_hold_whatever_workers_take_the_tokens) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    stage s(simulated(seed, 4));
    fair_queue heavy = s.fair.add_queue(3);
    fair_queue light = s.fair.add_queue(1);
    s.loop(light, 'l', 8);
    s.loop(heavy, 'h', 8);
    s.run(2000);
    auto of = counts(s.log);
    ASSERT_NEAR(static_cast<double>(of['h']) / static_cast<double>(of['l']), 3.0, 0.15)
        << "seed " << seed;
  }
}

TEST(fair_queue, saves_nothing_up_while_it_is_idle) {
  stage s;
  fair_queue busy = s.fair.add_queue();
  fair_queue late = s.fair.add_queue();
  s.batch(late, 'x', 1);
  s.loop(busy, 'b', 4);
  s.run(1000);
  s.loop(late, 'l', 4);
  s.run(1100);
  const auto of = counts(s.log.substr(1000));
  EXPECT_NEAR(static_cast<double>(of.at('l')), 50.0, 2.0);
}

TEST(fair_queue, is_first_in_first_out_in_itself) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    runtime rt(simulated(seed, 1));
    fair_scheduler fair(rt.workers());
    fair_queue one = fair.add_queue();
    std::string log;
    for (char letter = 'a'; letter <= 'z'; ++letter) rt.spawn(one, note(log, letter)).detach();
    rt.run_until_idle();
    ASSERT_EQ(log, "abcdefghijklmnopqrstuvwxyz") << "seed " << seed;
  }
}

TEST(fair_queue, each_item_is_one_job_for_the_executor_below) {
  stage s;
  fair_queue a = s.fair.add_queue();
  fair_queue b = s.fair.add_queue();
  s.batch(a, 'a', 70);
  s.batch(b, 'b', 30);
  EXPECT_EQ(s.rt.workers().stats().queued, 100U);
  EXPECT_EQ(s.fair.waiting(), 100U);
  EXPECT_EQ(a.waiting(), 70U);
  s.rt.run_until_idle();
  EXPECT_EQ(s.rt.workers().stats().items, 100U);
  EXPECT_EQ(s.fair.waiting(), 0U);
}

TEST(fair_queue, tokens_are_used_again) {
  runtime rt(driven());
  fair_scheduler fair(rt.workers());
  fair_queue one = fair.add_queue();
  struct counted : tandem::job {
    counted() : job([](tandem::job* self) noexcept { ++static_cast<counted*>(self)->runs; }) {}
    int runs = 0;
  };
  std::vector<counted> items(1000);
  const auto post_all = [&] {
    for (counted& each : items) one.executor().post(&each, tandem::post_kind::spawn);
    rt.run_until_idle();
  };
  post_all();
  const long before = tandem::test::news();
  post_all();
  EXPECT_EQ(tandem::test::news() - before, 0);
  for (const counted& each : items) EXPECT_EQ(each.runs, 2);
}

TEST(fair_queue, tasks_of_it_resume_there) {
  test_runtime rt(2);
  fair_scheduler fair(rt.workers());
  fair_queue one = fair.add_queue();
  tandem::sync_wait(one, [](fair_queue own, tandem::worker_pool& pool) -> task<void> {
    EXPECT_TRUE(own.is_current());
    co_await tandem::sleep_for(std::chrono::microseconds(1));
    EXPECT_TRUE(own.is_current());
    co_await tandem::resume_on(pool);
    EXPECT_FALSE(own.is_current());
    co_await tandem::resume_on(own);
    EXPECT_TRUE(own.is_current());
  }(one, rt.workers()));
}

TEST(fair_queue, weights_that_mean_nothing_are_refused) {
  runtime rt(driven());
  fair_scheduler fair(rt.workers());
  EXPECT_THROW((void)fair.add_queue(0), std::invalid_argument);
  EXPECT_THROW((void)fair.add_queue(fair_scheduler::most_weight + 1), std::invalid_argument);
  EXPECT_EQ(fair.add_queue(fair_scheduler::most_weight).weight(), fair_scheduler::most_weight);
}

TEST(fair_queue, over_a_thread_shares_that_thread) {
  test_runtime rt(1);
  std::string log;
  {
    tandem::single_thread_executor thread(*rt);
    fair_scheduler fair(thread);
    fair_queue a = fair.add_queue();
    fair_queue b = fair.add_queue();
    // What is spawned from inside a segment waits until that has ended, so all of it competes.
    tandem::sync_wait(thread, [](fair_queue x, fair_queue y, std::string& letters) -> task<void> {
      for (int i = 0; i < 4; ++i) tandem::spawn(x, note(letters, 'a')).detach();
      for (int i = 0; i < 4; ++i) tandem::spawn(y, note(letters, 'b')).detach();
      co_return;
    }(a, b, log));
  }
  EXPECT_EQ(log, "abababab");
}

}  // namespace
