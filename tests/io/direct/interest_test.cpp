// interest_test.cpp: the word of one side, step by step. Protocol direct.
// SPDX-License-Identifier: MIT
#include "direct/interest.hpp"

#include <gtest/gtest.h>

#include "direct/interest_table.hpp"

namespace {

using tandem::io::detail::interest;
using tandem::io::detail::side_wait;
using tandem::io::detail::socket_side;

constexpr socket_side taking = socket_side::taking;
constexpr socket_side giving = socket_side::giving;

class interest_words : public ::testing::Test {
 protected:
  interest_words() {
    of.begin(nullptr);
    of.arm(taking);
  }
  interest of;
  side_wait waiting;
};

TEST_F(interest_words, the_side_that_found_nothing_is_quiet_and_the_other_one_is_taken_for_ready) {
  EXPECT_FALSE(of.may_find(taking));
  EXPECT_TRUE(of.may_find(giving));
}

TEST_F(interest_words, whoever_waits_is_told_once) {
  ASSERT_TRUE(of.wait(taking, waiting));
  EXPECT_EQ(of.waits(), 1U);
  EXPECT_EQ(of.tell(taking, false), &waiting);
  EXPECT_EQ(of.waits(), 0U);
  EXPECT_EQ(of.tell(taking, false), nullptr);  // it is noted instead
  EXPECT_TRUE(of.may_find(taking));
}

TEST_F(interest_words, who_was_told_finds_it_quiet_until_more_comes) {
  ASSERT_TRUE(of.wait(taking, waiting));
  (void)of.tell(taking, false);
  EXPECT_FALSE(of.may_find(taking));
}

TEST_F(interest_words, nobody_waits_where_something_has_come) {
  EXPECT_EQ(of.tell(taking, false), nullptr);
  EXPECT_FALSE(of.wait(taking, waiting));
  of.begin_call(taking);
  EXPECT_TRUE(of.wait(taking, waiting));
}

TEST_F(interest_words, what_comes_during_a_call_is_not_lost) {
  of.left_something(taking);
  of.begin_call(taking);
  (void)of.tell(taking, false);  // after the call has looked
  EXPECT_FALSE(of.wait(taking, waiting));
}

TEST_F(interest_words, an_end_stays_until_a_call_has_found_nothing) {
  (void)of.tell(taking, true);
  of.begin_call(taking);
  EXPECT_TRUE(of.may_find(taking));
  (void)of.tell(taking, false);  // does not make it less
  of.begin_call(taking);
  EXPECT_TRUE(of.may_find(taking));
  EXPECT_EQ(of.found_nothing(taking), interest::found::an_end);
  EXPECT_FALSE(of.may_find(taking));
  EXPECT_EQ(of.found_nothing(taking), interest::found::nothing_new);
  of.ends_after_that(taking);
  EXPECT_TRUE(of.may_find(taking));
}

TEST_F(interest_words, an_end_tells_who_waits_and_stays) {
  ASSERT_TRUE(of.wait(taking, waiting));
  EXPECT_EQ(of.tell(taking, true), &waiting);
  EXPECT_TRUE(of.may_find(taking));
}

TEST_F(interest_words, an_end_is_noted_over_readiness) {
  of.left_something(taking);
  (void)of.tell(taking, true);
  of.begin_call(taking);
  EXPECT_TRUE(of.may_find(taking));
}

TEST_F(interest_words, both_sides_wait_each_for_itself) {
  side_wait other;
  of.begin_call(giving);
  ASSERT_TRUE(of.wait(taking, waiting));
  ASSERT_TRUE(of.wait(giving, other));
  EXPECT_EQ(of.waits(), 2U);
  EXPECT_EQ(of.tell(giving, false), &other);
  EXPECT_EQ(of.tell(taking, false), &waiting);
}

TEST_F(interest_words, a_side_that_is_left_is_taken_for_ready_again) {
  of.disarm(taking);
  EXPECT_FALSE(of.is_armed(taking));
  EXPECT_TRUE(of.may_find(taking));
}

TEST(interest_table, what_is_given_back_is_taken_again) {
  tandem::io::interest_table table;
  interest* const first = table.take();
  ASSERT_NE(first, nullptr);
  interest* const second = table.take();
  EXPECT_NE(first, second);
  table.give_back(*first);
  EXPECT_EQ(table.take(), first);
}

TEST(interest_table, waits_are_counted_over_all_chunks) {
  tandem::io::interest_table table;
  std::array<side_wait, 200> all;
  for (side_wait& each : all) {
    interest* const one = table.take();
    ASSERT_NE(one, nullptr);
    one->begin(nullptr);
    one->arm(taking);
    ASSERT_TRUE(one->wait(taking, each));
  }
  EXPECT_EQ(table.waits(), 200U);
  EXPECT_TRUE(table.any_waits());
}

}  // namespace
