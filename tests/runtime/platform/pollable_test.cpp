// pollable_test.cpp: when a handle for foreign event loops is readable.
// SPDX-License-Identifier: MIT
#include "platform/pollable.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <thread>
#include <vector>

#include "platform/futex.hpp"

namespace {

using tandem::platform::no_deadline;
using tandem::platform::pollable;
using namespace std::chrono_literals;

std::int64_t in(std::chrono::nanoseconds span) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return (std::chrono::nanoseconds(now) + span).count();
}

bool is_readable(const pollable& one, int wait_ms = 0) {
  pollfd watched{one.handle(), POLLIN, 0};
  return ::poll(&watched, 1, wait_ms) == 1;
}
bool becomes_readable(const pollable& one) { return is_readable(one, -1); }

TEST(pollable, a_new_one_is_not_readable_and_is_not_inherited) {
  const pollable one;
  EXPECT_FALSE(is_readable(one));
  EXPECT_NE(::fcntl(one.handle(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(pollable, it_is_readable_from_notify_to_clear_however_often_it_was_notified) {
  pollable one;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100'000; ++i) one.notify();  // more than a pipe holds
    EXPECT_TRUE(becomes_readable(one));
    one.clear();
    EXPECT_FALSE(is_readable(one));
  }
}

TEST(pollable, a_deadline_makes_it_readable_and_never_before_its_time) {
  pollable one;
  for (const auto span : {-1'000'000us, 0us, 300us, 20'000us}) {
    const std::int64_t until = in(span);
    one.set_deadline(until);
    EXPECT_TRUE(becomes_readable(one));
    EXPECT_GE(in(0ns), until);
    one.clear();
    EXPECT_FALSE(is_readable(one));
  }
}

TEST(pollable, the_last_deadline_counts_whether_it_is_earlier_or_later) {
  pollable one;
  one.set_deadline(in(1h));
  one.set_deadline(in(1ms));  // earlier
  EXPECT_TRUE(becomes_readable(one));
  one.clear();
  const std::int64_t later = in(30ms);
  one.set_deadline(in(10ms));
  one.set_deadline(later);
  EXPECT_TRUE(becomes_readable(one));
  EXPECT_GE(in(0ns), later);
}

TEST(pollable, a_deadline_that_was_taken_away_is_not_told) {
  pollable one;
  one.set_deadline(in(1h));
  one.set_deadline(no_deadline);
  EXPECT_FALSE(is_readable(one));
  pollable other;
  other.set_deadline(in(2ms));
  one.set_deadline(in(2ms));
  one.clear();
  EXPECT_TRUE(becomes_readable(other));  // its time has come, and that of the other would have
  EXPECT_FALSE(is_readable(one));
}

TEST(pollable, a_notify_by_another_thread_is_not_lost_between_two_clears) {
  pollable one;
  std::atomic<int> told{0};
  std::atomic<int> heard{0};
  std::thread notifier([&] {
    for (int i = 1; i <= 2000; ++i) {
      told.store(i);
      one.notify();
      while (heard.load() < i) std::this_thread::yield();
    }
  });
  for (int last = 0; last < 2000;) {
    EXPECT_TRUE(becomes_readable(one));
    one.clear();
    last = told.load();
    one.set_deadline(in(1h + std::chrono::microseconds(last)));
    heard.store(last);
  }
  notifier.join();
}

TEST(pollable, many_live_and_end_at_once_with_deadlines_that_nobody_waits_for) {
  std::vector<std::unique_ptr<pollable>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(std::make_unique<pollable>());
    all.back()->set_deadline(in(i % 2 == 0 ? 1h : 100us));
  }
}

}  // namespace
