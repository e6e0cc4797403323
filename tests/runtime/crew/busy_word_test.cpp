// busy_word_test.cpp: the two counts of a pool's word, and what each change makes of them.
// SPDX-License-Identifier: MIT
#include "crew/busy_word.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace {

using tandem::detail::busy_word;

TEST(busy_word, a_new_pool_has_room_for_its_target_and_nobody_is_busy) {
  const busy_word word(4, 4);
  EXPECT_EQ(word.now().room(), 4);
  EXPECT_EQ(word.now().searching(), 0U);
  EXPECT_EQ(word.busy(), 0);
  EXPECT_TRUE(word.now().needs_a_searcher());
}

TEST(busy_word, whoever_is_woken_to_search_takes_room_and_nobody_else_is_needed) {
  busy_word word(2, 2);
  word.wake_to_search();
  EXPECT_EQ(word.busy(), 1);
  EXPECT_EQ(word.now().searching(), 1U);
  EXPECT_FALSE(word.now().needs_a_searcher());
  EXPECT_EQ(word.end_search().searching(), 1U);
  EXPECT_EQ(word.busy(), 1);
  EXPECT_TRUE(word.now().needs_a_searcher());
  word.wake_with_item();
  EXPECT_EQ(word.now().room(), 0);
  EXPECT_FALSE(word.now().needs_a_searcher());
}

TEST(busy_word, at_most_half_of_the_busy_search) {
  busy_word word(4, 4);
  for (int i = 0; i < 4; ++i) word.wake_with_item();
  EXPECT_TRUE(word.begin_search());
  EXPECT_TRUE(word.begin_search());
  EXPECT_FALSE(word.begin_search());
  word.end_search();
  EXPECT_TRUE(word.begin_search());
}

TEST(busy_word, lying_down_gives_the_room_back_and_tells_who_searched_before) {
  busy_word word(2, 2);
  word.wake_to_search(2);
  EXPECT_EQ(word.lie_down(true).searching(), 2U);
  EXPECT_EQ(word.lie_down(true).searching(), 1U);
  EXPECT_EQ(word.now().room(), 2);
  EXPECT_EQ(word.now().searching(), 0U);
}

TEST(busy_word, only_as_many_step_back_as_are_too_many) {
  busy_word word(3, 3);
  for (int i = 0; i < 3; ++i) word.wake_with_item();
  EXPECT_EQ(word.change_target(-2).room(), -2);
  EXPECT_EQ(word.busy(), 3);
  busy_word::counts before;
  EXPECT_TRUE(word.step_back(before));
  EXPECT_EQ(before.room(), -2);
  EXPECT_TRUE(word.step_back(before));
  EXPECT_EQ(before.room(), -1);
  EXPECT_FALSE(word.step_back(before));
  EXPECT_EQ(word.busy(), 1);
}

TEST(busy_word, a_thread_that_could_not_be_had_leaves_no_trace) {
  for (const bool searches : {false, true}) {
    for (const bool brings_room : {false, true}) {
      busy_word word(2, 2);
      word.come(searches, brings_room);
      EXPECT_EQ(word.busy(), 1);
      EXPECT_EQ(word.now().searching(), searches ? 1U : 0U);
      EXPECT_EQ(word.target(), brings_room ? 3 : 2);
      word.come_undone(searches, brings_room);
      EXPECT_EQ(word.now().room(), 2);
      EXPECT_EQ(word.now().searching(), 0U);
      EXPECT_EQ(word.target(), 2);
    }
  }
}

TEST(busy_word, who_has_brought_room_takes_it_along_awake_or_asleep) {
  busy_word word(1, 1);
  word.wake_with_item();
  word.come(false, true);
  EXPECT_EQ(word.busy(), 2);
  word.go(false, true);
  EXPECT_EQ(word.busy(), 1);
  EXPECT_EQ(word.now().room(), 0);
  word.come(true, true);
  word.lie_down(true);
  EXPECT_EQ(word.now().room(), 1);
  word.take_room_along();
  EXPECT_EQ(word.now().room(), 0);
  EXPECT_EQ(word.target(), 1);
}

TEST(busy_word, a_moving_target_makes_no_busy_worker_disappear) {
  // crew/goal: the target is raised before the room, and lowered after it.
  busy_word word(8, 8);
  for (int i = 0; i < 3; ++i) word.wake_with_item();
  std::atomic<bool> ends{false};
  std::thread changes([&] {
    for (int i = 0; i < 20000; ++i) {
      word.change_target(5);
      word.change_target(-5);
    }
    ends = true;
  });
  int least = 3;
  while (!ends) least = std::min(least, word.busy());
  changes.join();
  EXPECT_EQ(least, 3);
}

}  // namespace
