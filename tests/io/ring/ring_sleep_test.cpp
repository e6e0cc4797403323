// ring_sleep_test.cpp: who is woken, how often, and for what.
// SPDX-License-Identifier: MIT
#include "ring/ring_sleep.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "io/support/silent_backend.hpp"

namespace {

class ring_sleep : public ::testing::Test {
 protected:
  ring_sleep() { sleep_.use(ring_); }

  tandem::test::silent_backend ring_;
  tandem::io::ring_sleep sleep_;
};

TEST_F(ring_sleep, whoever_is_awake_is_not_woken) {
  sleep_.wake();
  EXPECT_FALSE(sleep_.wake_to_search());
  EXPECT_EQ(ring_.wakes, 0);
  EXPECT_EQ(sleep_.wakes(), 0U);
}

TEST_F(ring_sleep, one_wake_is_enough_for_all_who_come_while_it_sleeps) {
  constexpr int rounds = 200;
  constexpr int wakers = 3;
  std::atomic<int> round{0};
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < wakers; ++i) {
    threads.emplace_back([&] {
      for (int mine = 1; mine <= rounds; ++mine) {
        while (round.load() < mine) std::this_thread::yield();
        sleep_.wake();
        done.fetch_add(1);
      }
    });
  }
  for (int mine = 1; mine <= rounds; ++mine) {
    sleep_.announce(false);
    round.store(mine);
    while (done.load() < mine * wakers) std::this_thread::yield();
    EXPECT_FALSE(sleep_.asleep());
    EXPECT_EQ(ring_.wakes, mine);
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(sleep_.wakes(), static_cast<unsigned>(rounds));
  sleep_.wait_for_wakers();
}

TEST_F(ring_sleep, a_call_to_search_is_heard_once) {
  sleep_.announce(false);
  EXPECT_TRUE(sleep_.wake_to_search());
  EXPECT_TRUE(sleep_.is_called());
  EXPECT_TRUE(sleep_.end_call());
  EXPECT_FALSE(sleep_.is_called());
  EXPECT_FALSE(sleep_.end_call());
}

TEST_F(ring_sleep, a_wake_is_no_call_to_search) {
  sleep_.announce(false);
  sleep_.wake();
  EXPECT_FALSE(sleep_.is_called());
}

TEST_F(ring_sleep, a_request_waits_for_one_that_gathers_and_wakes_one_in_its_ring) {
  sleep_.announce(true);
  sleep_.wake_for_request();
  EXPECT_TRUE(sleep_.asleep());
  sleep_.wake();
  EXPECT_FALSE(sleep_.asleep());
  EXPECT_EQ(ring_.wakes, 0) << "it was not in its ring";
  sleep_.announce(false);
  sleep_.wake_for_request();
  EXPECT_FALSE(sleep_.asleep());
  EXPECT_EQ(ring_.wakes, 1);
}

}  // namespace
