// task_count_test.cpp: the count of live tasks and the wait for the last one, without a runtime.
// SPDX-License-Identifier: MIT
#include "runtime/task_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "platform/futex.hpp"

namespace {

using tandem::detail::task_count;
using tandem::detail::thread_shards;
using tandem::platform::no_deadline;

constexpr std::int64_t long_ago = 0;  // by the steady clock

template <class Body>
void on_another_thread(Body body) {
  std::thread(body).join();
}

TEST(task_count, an_empty_one_is_not_waited_for) {
  task_count tasks;
  EXPECT_EQ(tasks.live(), 0U);
  EXPECT_TRUE(tasks.wait_for_none(no_deadline));
  EXPECT_TRUE(tasks.wait_for_none(long_ago));
}

TEST(task_count, a_task_lives_from_its_start_to_its_end) {
  task_count tasks;
  tasks.start();
  tasks.start();
  EXPECT_EQ(tasks.live(), 2U);
  EXPECT_FALSE(tasks.end());
  EXPECT_EQ(tasks.live(), 1U);
  EXPECT_FALSE(tasks.end());
  EXPECT_EQ(tasks.live(), 0U);
}

TEST(task_count, a_task_may_end_on_another_thread_than_the_one_that_started_it) {
  task_count tasks;
  for (int i = 0; i < 5; ++i) on_another_thread([&] { tasks.start(); });
  EXPECT_EQ(tasks.live(), 5U);
  for (int left = 4; left >= 0; --left) {
    on_another_thread([&] { EXPECT_FALSE(tasks.end()); });
    EXPECT_EQ(tasks.live(), static_cast<std::size_t>(left));
  }
}

TEST(task_count, an_end_says_whether_somebody_watches) {
  task_count tasks;
  for (int i = 0; i < 3; ++i) tasks.start();
  EXPECT_FALSE(tasks.end());
  {
    const task_count::watch announced(tasks);
    EXPECT_TRUE(tasks.end());
  }
  EXPECT_FALSE(tasks.end());
}

TEST(task_count, a_watch_for_good_is_counted_once_and_stays) {
  task_count tasks;
  for (int i = 0; i < 2; ++i) tasks.start();
  tasks.watch_for_good();
  tasks.watch_for_good();
  EXPECT_TRUE(tasks.end());
  { const task_count::watch announced(tasks); }
  EXPECT_TRUE(tasks.end());
}

TEST(task_count, a_wait_whose_time_is_over_fails_while_a_task_lives_and_watches_no_more) {
  task_count tasks;
  tasks.start();
  EXPECT_FALSE(tasks.wait_for_none(long_ago));
  EXPECT_FALSE(tasks.end());
  EXPECT_TRUE(tasks.wait_for_none(long_ago));
}

TEST(task_count, all_who_wait_go_on_after_the_last_end_and_none_before) {
  task_count tasks;
  std::atomic<bool> last_end_may_be_seen{false};
  std::atomic<int> gone_on{0};
  tasks.start();
  tasks.start();
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.emplace_back([&] {
      EXPECT_TRUE(tasks.wait_for_none(no_deadline));
      EXPECT_TRUE(last_end_may_be_seen);
      ++gone_on;
    });
  }
  on_another_thread([&] { (void)tasks.end(); });
  EXPECT_EQ(gone_on, 0);
  last_end_may_be_seen = true;
  on_another_thread([&] { (void)tasks.end(); });
  for (std::thread& each : waiters) each.join();
  EXPECT_EQ(gone_on, 3);
}

TEST(task_count, whoever_ends_a_task_from_outside_may_touch_the_count_until_it_has_left) {
  for (int round = 0; round < 200; ++round) {
    auto tasks = std::make_unique<task_count>();
    tasks->start();
    std::atomic<bool> touched{false};
    std::thread outsider([&, counted = tasks.get()] {
      const task_count::outside_end here(*counted);
      (void)counted->end();
      std::this_thread::yield();
      EXPECT_EQ(counted->live(), 0U);
      touched = true;
    });
    EXPECT_TRUE(tasks->wait_for_none(no_deadline));
    tasks->wait_for_outside_ends();
    EXPECT_TRUE(touched);
    tasks.reset();
    outsider.join();
  }
}

TEST(thread_shard, a_thread_that_is_no_worker_keeps_one_of_the_last_four) {
  for (int i = 0; i < 8; ++i) {
    on_another_thread([] {
      const std::size_t mine = tandem::detail::thread_shard();
      EXPECT_GE(mine, thread_shards - 4);
      EXPECT_LT(mine, thread_shards);
      EXPECT_EQ(tandem::detail::thread_shard(), mine);
    });
  }
}

}  // namespace
