// gather_choice_test.cpp: after which rounds a completion thread may wait for busy workers.
// SPDX-License-Identifier: MIT
#include "ring/gather_choice.hpp"

#include <gtest/gtest.h>

namespace {

using tandem::io::gather_choice;

TEST(gather_choice, it_takes_four_tasks_for_the_workers_in_one_round) {
  gather_choice choice(true);
  EXPECT_FALSE(choice.decide());
  choice.brought_to_workers(3);
  EXPECT_FALSE(choice.decide());
  choice.brought_to_workers(3);
  choice.brought_to_workers(1);
  EXPECT_TRUE(choice.decide());
}

TEST(gather_choice, each_decision_begins_to_count_anew) {
  gather_choice choice(true);
  choice.brought_to_workers(4);
  EXPECT_TRUE(choice.decide());
  EXPECT_FALSE(choice.decide());
}

TEST(gather_choice, whoever_brought_something_to_its_own_tasks_looks_for_more_at_once) {
  gather_choice choice(true);
  choice.brought_to_workers(100);
  choice.brought_to_own_tasks();
  EXPECT_FALSE(choice.decide());
  choice.brought_to_workers(4);
  EXPECT_TRUE(choice.decide()) << "that was the round before";
}

TEST(gather_choice, where_a_cpu_is_left_nobody_gathers) {
  gather_choice choice(false);
  choice.brought_to_workers(100);
  EXPECT_FALSE(choice.decide());
}

}  // namespace
