// crew_test.cpp: threads of a pool come and go, without the pool.
// SPDX-License-Identifier: MIT
#include "crew/crew.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "runtime/support/crew_parts.hpp"

namespace {

using crew_parts::crew_of_one_test;
using tandem::decision_reason;

tandem::pool_options threads(unsigned core, unsigned most) {
  tandem::pool_options chosen;
  chosen.min_threads = core;
  chosen.max_threads = most;
  chosen.allow_core_timeout = false;
  return chosen;
}

/// All threads that were started sleep.
bool rest(crew_of_one_test& of) {
  for (int i = 0; i < 5000; ++i) {
    {
      const std::lock_guard lock(of.idle.lock());
      if (of.idle.count() == of.threads.threads()) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(crew, no_more_threads_start_than_the_caller_allows) {
  crew_of_one_test pool(threads(1, 3));
  EXPECT_TRUE(pool.start_one(2));
  EXPECT_TRUE(pool.start_one(2));
  EXPECT_FALSE(pool.start_one(2));
  EXPECT_EQ(pool.threads.threads(), 2U);
  pool.close();
  EXPECT_EQ(pool.runs, 2);
  EXPECT_EQ(pool.ends, 1);
}

TEST(crew, after_the_door_was_closed_the_last_one_out_ends_the_pool) {
  crew_of_one_test pool(threads(3, 3));
  pool.close();  // nobody is there
  EXPECT_EQ(pool.ends, 1);
}

TEST(crew, whoever_finds_work_behind_a_closed_door_stays_until_it_is_gone) {
  crew_of_one_test pool(threads(1, 1));
  ASSERT_TRUE(pool.start_one(1));
  ASSERT_TRUE(rest(pool));
  pool.work_waits = true;
  std::thread takes_it([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(pool.ends, 0);
    pool.work_waits = false;
  });
  pool.close();
  takes_it.join();
  EXPECT_EQ(pool.ends, 1);
  EXPECT_EQ(pool.threads.threads(), 0U);
}

TEST(crew, who_has_slept_longest_is_dismissed_first_and_the_core_stays) {
  crew_of_one_test pool(threads(1, 3));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(pool.start_one(3));
    ASSERT_TRUE(rest(pool));
  }
  EXPECT_TRUE(pool.threads.retire_one());
  EXPECT_TRUE(pool.threads.retire_one());
  EXPECT_FALSE(pool.threads.retire_one());
  EXPECT_EQ(pool.retired_for.load(), decision_reason::keep_alive);
  EXPECT_EQ(pool.threads.retirements(), 2U);
  const std::lock_guard lock(pool.idle.lock());
  ASSERT_EQ(pool.idle.count(), 1U);
  EXPECT_EQ(pool.idle.take_youngest().number, 2U);
  pool.idle.push(pool.workers[2]);
}

TEST(crew, more_threads_than_the_maximum_go_for_that_reason) {
  crew_of_one_test pool(threads(1, 2));
  ASSERT_TRUE(pool.start_one(2));
  ASSERT_TRUE(pool.start_one(2));
  ASSERT_TRUE(rest(pool));
  {
    const std::lock_guard lock(pool.idle.lock());
    pool.workers.set_most(1);
  }
  EXPECT_TRUE(pool.threads.retire_one());
  EXPECT_EQ(pool.retired_for.load(), decision_reason::outside_change);
}

TEST(crew, a_thread_above_the_core_brings_its_room_and_takes_it_along) {
  tandem::pool_options chosen = threads(1, 2);
  chosen.growth = tandem::growth_order::queue_first;
  crew_of_one_test pool(chosen);
  const int target = pool.word.target();
  ASSERT_TRUE(pool.start_one(2));
  EXPECT_EQ(pool.word.target(), target);
  ASSERT_TRUE(pool.start_one(2));
  EXPECT_EQ(pool.word.target(), target + 1);
  ASSERT_TRUE(rest(pool));
  ASSERT_TRUE(pool.threads.retire_one());
  EXPECT_EQ(pool.word.target(), target);
  EXPECT_EQ(pool.threads.started_for(static_cast<std::size_t>(decision_reason::queue_full)), 1U);
}

TEST(crew, a_factory_that_refuses_leaves_all_counts_as_they_were) {
  tandem::pool_options chosen = threads(2, 2);
  int asked = 0;
  bool refuses = false;
  chosen.threads.factory = [&](std::function<void()> body, const std::string&) {
    ++asked;
    if (refuses) throw std::runtime_error("not this one");
    return std::thread(std::move(body));
  };
  crew_of_one_test pool(chosen);
  ASSERT_TRUE(pool.start_one(2));
  ASSERT_TRUE(rest(pool));
  refuses = true;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(pool.start_one(2));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("could not start a worker (thread_options::factory: not this one)"),
            std::string::npos)
      << said;
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(pool.threads.threads(), 1U);
  EXPECT_EQ(pool.word.busy(), 0);
  // For 10 ms after a failure the factory is not asked: where the calls took longer nothing is known.
  for (bool in_time = false; !in_time;) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_FALSE(pool.waking.start_core_thread());
    const int so_far = asked;
    EXPECT_FALSE(pool.start_one(2));
    EXPECT_FALSE(pool.waking.start_searcher(2));
    in_time = std::chrono::steady_clock::now() - before < std::chrono::milliseconds(10);
    if (in_time) {
      EXPECT_EQ(asked, so_far) << "too soon after the failure";
    }
  }
  refuses = false;
  const int so_far = asked;
  EXPECT_TRUE(pool.waking.start_core_thread()) << "whoever asks for one does not wait";
  EXPECT_EQ(asked, so_far + 1);
  EXPECT_EQ(pool.threads.threads(), 2U);
  EXPECT_FALSE(pool.waking.start_core_thread()) << "there are as many as the core";
}

TEST(crew, what_a_hook_throws_is_told_and_the_worker_goes_on) {
  tandem::pool_options chosen = threads(1, 1);
  chosen.threads.on_start = [](unsigned) { throw std::runtime_error("start"); };
  chosen.threads.on_exit = [](unsigned) { throw std::runtime_error("exit"); };
  crew_of_one_test pool(chosen);
  ASSERT_TRUE(pool.start_one(1));
  ASSERT_TRUE(rest(pool));
  EXPECT_EQ(pool.runs, 1);
  pool.close();
  EXPECT_EQ(pool.failures, 2);
}

TEST(waker, a_sleeper_is_woken_with_what_it_was_handed) {
  crew_of_one_test pool(threads(1, 1));
  ASSERT_TRUE(pool.start_one(1));
  ASSERT_TRUE(rest(pool));
  // The worker of this test does not run what it is handed: it is seen in its hand.
  tandem::job item([](tandem::job*) noexcept {});
  EXPECT_TRUE(pool.waking.hand_to_idle(item));
  ASSERT_TRUE(rest(pool));
  EXPECT_EQ(pool.workers[0].handed, &item);
  EXPECT_EQ(pool.waking.wakes(), 1U);
  pool.workers[0].handed = nullptr;
}

TEST(waker, nobody_is_woken_while_somebody_searches) {
  crew_of_one_test pool(threads(2, 2));
  ASSERT_TRUE(pool.start_one(2));
  ASSERT_TRUE(rest(pool));
  pool.word.wake_with_item();  // the test is a worker
  ASSERT_TRUE(pool.word.begin_search());
  pool.waking.wake_one();
  EXPECT_EQ(pool.waking.wakes(), 0U);
  pool.word.end_search();
  pool.waking.wake_one();
  EXPECT_EQ(pool.waking.wakes(), 1U);
  pool.word.lie_down(false);
}

TEST(waker, a_crew_without_threads_starts_nobody) {
  crew_of_one_test pool(threads(1, 1), false);
  tandem::job item([](tandem::job*) noexcept {});
  EXPECT_FALSE(pool.waking.start_for(item, 1));
  EXPECT_FALSE(pool.waking.start_searcher(1));
  pool.waking.wake_one();
  EXPECT_EQ(pool.waking.wakes(), 0U);
}

}  // namespace
