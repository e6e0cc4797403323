// pool_life_test.cpp: the states of a pool come one after the other, each once; without a pool.
// SPDX-License-Identifier: MIT
#include "submit/pool_life.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using tandem::pool_state;
using tandem::detail::pool_life;

constexpr std::int64_t long_ago = 1;

TEST(pool_life, begins_running) {
  const pool_life life;
  EXPECT_EQ(life.state(), pool_state::running);
  EXPECT_TRUE(life.is_running());
}

TEST(pool_life, a_state_is_entered_by_the_first_caller_only) {
  pool_life life;
  EXPECT_TRUE(life.advance(pool_state::shutdown));
  EXPECT_FALSE(life.advance(pool_state::shutdown));
  EXPECT_FALSE(life.is_running());
}

TEST(pool_life, no_state_comes_back) {
  pool_life life;
  EXPECT_TRUE(life.advance(pool_state::terminated)) << "states may be passed over";
  for (const pool_state earlier :
       {pool_state::running, pool_state::shutdown, pool_state::stop, pool_state::tidying}) {
    EXPECT_FALSE(life.advance(earlier));
    EXPECT_EQ(life.state(), pool_state::terminated);
  }
}

TEST(pool_life, nobody_waits_for_an_end_that_has_been) {
  pool_life life;
  ASSERT_TRUE(life.advance(pool_state::terminated));
  EXPECT_TRUE(life.wait_for_end(long_ago));
}

TEST(pool_life, a_wait_ends_with_its_deadline_whatever_state_it_began_in) {
  pool_life life;
  EXPECT_FALSE(life.wait_for_end(long_ago));
  ASSERT_TRUE(life.advance(pool_state::shutdown));
  EXPECT_FALSE(life.wait_for_end(long_ago));
}

}  // namespace
