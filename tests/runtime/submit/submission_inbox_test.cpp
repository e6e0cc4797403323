// submission_inbox_test.cpp: how many places of a queue are said to be taken.
// SPDX-License-Identifier: MIT
#include "submit/submission_inbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

namespace {

using namespace std::chrono_literals;
using tandem::detail::submission_inbox;

// Found by review: whoever left between the reader's two looks, and entered again, counted twice.
TEST(submission_inbox, never_says_that_more_places_are_taken_than_there_are) {
  submission_inbox inbox(1);
  std::atomic<bool> begun{false};
  std::atomic<bool> ends{false};
  std::thread comes_and_goes([&] {
    while (!ends) {
      ASSERT_EQ(inbox.reserve(), submission_inbox::place::taken);
      inbox.give_back();
      begun = true;
    }
  });
  while (!begun) std::this_thread::yield();
  std::size_t most = 0;
  const auto until = std::chrono::steady_clock::now() + 150ms;
  while (std::chrono::steady_clock::now() < until) {
    for (int i = 0; i < 10'000; ++i) most = std::max(most, inbox.size());
  }
  ends = true;
  comes_and_goes.join();
  EXPECT_LE(most, 1U);
  EXPECT_EQ(inbox.size(), 0U);
}

}  // namespace
