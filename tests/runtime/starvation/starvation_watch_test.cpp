// starvation_watch_test.cpp: when a pool counts as starving, and for how long.
// SPDX-License-Identifier: MIT
#include "starvation/starvation_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tandem::detail::starvation_look;
using tandem::detail::starvation_watch;

/// Two workers that have begun an item each, and a queue.
class watched_pool {
 public:
  watched_pool() { watch.begin(0s); }

  void look(std::chrono::nanoseconds after) {
    seen.now += after;
    seen.dequeued = 0;
    for (const std::uint64_t each : begun) seen.dequeued += each;
    seen.processing = static_cast<unsigned>(begun.size());
    watch.look(seen, begun);
  }
  void take(std::size_t worker) {
    ++begun[worker];
    --seen.waiting;
  }
  void add_worker() {
    begun.push_back(0);
    take(begun.size() - 1);
  }

  starvation_watch watch;
  starvation_look seen;
  std::vector<std::uint64_t> begun{1, 1};
};

TEST(starvation_watch, a_spell_begins_with_the_look_that_finds_work_and_lasts_while_none_is_taken) {
  watched_pool pool;
  pool.look(500ms);
  EXPECT_EQ(pool.watch.lasts(), 0s);
  pool.seen.waiting = 3;
  pool.look(500ms);
  EXPECT_EQ(pool.watch.lasts(), 0s);
  pool.look(500ms);
  pool.look(500ms);
  EXPECT_EQ(pool.watch.lasts(), 1s);
}

TEST(starvation_watch, workers_that_come_and_take_one_item_each_do_not_end_it) {
  watched_pool pool;
  pool.seen.waiting = 10;
  pool.look(500ms);
  for (int come = 0; come < 4; ++come) {
    pool.add_worker();
    pool.look(500ms);
  }
  EXPECT_EQ(pool.watch.lasts(), 2s);
  EXPECT_EQ(pool.watch.stuck_for(0), 2s);
  EXPECT_EQ(pool.watch.stuck_for(2), 1500ms);
  EXPECT_EQ(pool.watch.stuck_for(5), 0s);
  EXPECT_EQ(pool.watch.stuck_for(6), 0s) << "there is no such worker";
}

TEST(starvation_watch, any_other_item_that_is_taken_ends_it) {
  watched_pool pool;
  pool.seen.waiting = 10;
  pool.look(500ms);
  pool.add_worker();
  pool.look(500ms);
  pool.take(0);
  pool.look(500ms);
  EXPECT_EQ(pool.watch.lasts(), 0s);
  EXPECT_EQ(pool.watch.stuck_for(0), 0s);
  EXPECT_EQ(pool.watch.stuck_for(1), 1s);
  pool.look(500ms);
  EXPECT_EQ(pool.watch.lasts(), 500ms) << "another has begun";
}

TEST(starvation_watch, an_empty_queue_ends_it) {
  watched_pool pool;
  pool.seen.waiting = 1;
  pool.look(500ms);
  pool.look(500ms);
  pool.add_worker();
  pool.look(500ms);
  EXPECT_EQ(pool.watch.lasts(), 0s);
  EXPECT_EQ(pool.watch.oldest(), 0s);
}

TEST(starvation_watch,
     the_oldest_item_has_waited_since_the_first_look_that_saw_more_than_were_taken) {
  watched_pool pool;
  pool.seen.waiting = 2;
  pool.look(500ms);  // two at 0.5 s
  pool.seen.waiting += 2;
  pool.look(500ms);  // four at 1.0 s
  EXPECT_EQ(pool.watch.oldest(), 500ms);
  pool.take(0);
  pool.look(500ms);
  EXPECT_EQ(pool.watch.oldest(), 1s) << "one of the first two is still there";
  pool.take(0);
  pool.look(500ms);
  EXPECT_EQ(pool.watch.oldest(), 1s) << "of those at 1.0 s";
  pool.take(0);
  pool.take(0);
  pool.look(500ms);
  EXPECT_EQ(pool.watch.oldest(), 0s);
}

TEST(starvation_watch, the_age_stays_right_however_long_it_lasts) {
  watched_pool pool;
  for (int look = 0; look < 1000; ++look) {
    ++pool.seen.waiting;
    pool.look(500ms);
  }
  EXPECT_EQ(pool.watch.oldest(), 499'500ms);
  // 64 looks are remembered: of what came later it is only known that it is younger.
  for (int item = 0; item < 63; ++item) pool.take(0);
  pool.look(500ms);
  EXPECT_EQ(pool.watch.oldest(), 500s - 31'500ms);
  for (int item = 0; item < 100; ++item) pool.take(0);
  pool.look(500ms);
  EXPECT_EQ(pool.watch.oldest(), 500ms);
}

TEST(starvation_watch, what_was_before_a_rest_does_not_count) {
  watched_pool pool;
  pool.seen.waiting = 3;
  pool.look(500ms);
  pool.look(500ms);
  pool.watch.begin(10s);
  pool.seen.now = 10s;
  EXPECT_EQ(pool.watch.lasts(), 0s);
  EXPECT_EQ(pool.watch.oldest(), 0s);
  pool.look(500ms);
  EXPECT_EQ(pool.watch.lasts(), 0s);
  EXPECT_EQ(pool.watch.oldest(), 0s);
}

}  // namespace
