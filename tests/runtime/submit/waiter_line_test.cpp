// waiter_line_test.cpp: who waits for a place stands in line, and may leave it anywhere.
// SPDX-License-Identifier: MIT
#include "submit/waiter_line.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace {

using tandem::detail::line_place;
using tandem::detail::waiter_line;

class five_in_line {
 public:
  five_in_line() {
    for (line_place& each : waiters) line.push(each);
  }
  std::size_t number_of(const line_place& waiter) const {
    return static_cast<std::size_t>(&waiter - waiters.data());
  }
  std::vector<std::size_t> take_one_by_one() {
    std::vector<std::size_t> taken;
    while (!line.empty()) taken.push_back(number_of(line.take_oldest()));
    return taken;
  }

  std::array<line_place, 5> waiters;
  waiter_line line;
};

TEST(waiter_line, whoever_came_first_is_taken_first) {
  five_in_line of;
  EXPECT_EQ(of.line.size(), 5U);
  EXPECT_EQ(of.take_one_by_one(), (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(of.line.size(), 0U);
}

TEST(waiter_line, whoever_leaves_it_leaves_the_others_in_order) {
  using numbers = std::vector<std::size_t>;
  for (const auto& [leavers, others] :
       std::vector<std::pair<numbers, numbers>>{{{0}, {1, 2, 3, 4}},
                                                {{4}, {0, 1, 2, 3}},
                                                {{2, 1}, {0, 3, 4}},
                                                {{1, 3, 0, 4}, {2}},
                                                {{4, 0, 2, 1, 3}, {}}}) {
    five_in_line of;
    for (const std::size_t each : leavers) of.line.take_out(of.waiters[each]);
    EXPECT_EQ(of.line.size(), others.size());
    EXPECT_EQ(of.take_one_by_one(), others);
  }
}

TEST(waiter_line, whoever_has_left_may_stand_in_line_again_and_is_the_last) {
  five_in_line of;
  of.line.take_out(of.waiters[1]);
  of.line.push(of.waiters[1]);
  EXPECT_EQ(of.take_one_by_one(), (std::vector<std::size_t>{0, 2, 3, 4, 1}));
}

TEST(waiter_line, a_line_that_ends_hands_all_out_and_is_empty) {
  five_in_line of;
  of.line.take_out(of.waiters[2]);
  std::vector<std::size_t> all;
  const line_place* each = of.line.take_all();
  EXPECT_TRUE(of.line.empty());
  EXPECT_EQ(of.line.size(), 0U);
  for (; each != nullptr; each = waiter_line::after(*each)) all.push_back(of.number_of(*each));
  EXPECT_EQ(all, (std::vector<std::size_t>{0, 1, 3, 4}));
  EXPECT_EQ(of.line.take_all(), nullptr);
}

}  // namespace
