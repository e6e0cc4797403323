// left_items_test.cpp: what has left a queue is found again, and released once.
// SPDX-License-Identifier: MIT
#include "submit/left_items.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "runtime/submit/queue_items.hpp"

namespace {

using tandem::job;
using tandem::detail::left_items;
using tandem::test::queue_items;

TEST(left_items, a_block_that_has_left_lives_until_it_was_found_and_released) {
  queue_items items(2);
  left_items left;
  left.add(items[0]);
  EXPECT_TRUE(left_items::has_left(items[0]));
  EXPECT_FALSE(left_items::has_left(items[1]));
  EXPECT_FALSE(left.empty());
  tandem::detail::joinable_root& kept = items[0];
  items.forget_all();
  EXPECT_EQ(items.ended(), 1U) << "the one that has not left";
  left.found(kept);
  EXPECT_TRUE(left.empty());
  EXPECT_EQ(items.ended(), 1U) << "not under the lock";
  left_items::release_all(left.take_found());
  EXPECT_EQ(items.ended(), 2U);
}

TEST(left_items, what_was_found_is_handed_out_once) {
  queue_items items(3);
  left_items left;
  for (std::size_t i = 0; i < 3; ++i) left.add(items[i]);
  for (std::size_t i = 0; i < 3; ++i) left.found(items[i]);
  std::size_t count = 0;
  job* const found = left.take_found();
  for (const job* each = found; each != nullptr; each = each->next) ++count;
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(left.take_found(), nullptr);
  left_items::release_all(found);
}

TEST(left_items, a_sweep_is_due_once_sixteen_more_have_left_than_are_there_or_nothing_is) {
  queue_items items(20);
  left_items left;
  EXPECT_FALSE(left.is_sweep_due(0));
  left.add(items[0]);
  EXPECT_TRUE(left.is_sweep_due(0)) << "nothing else is there";
  EXPECT_FALSE(left.is_sweep_due(1));
  for (std::size_t i = 1; i < 20; ++i) left.add(items[i]);
  EXPECT_TRUE(left.is_sweep_due(3));
  EXPECT_FALSE(left.is_sweep_due(4));
  for (std::size_t i = 0; i < 20; ++i) left.found(items[i]);
  left_items::release_all(left.take_found());
}

}  // namespace
