// futex_test.cpp: what every system's folder has to make true of waiting for a word.
// SPDX-License-Identifier: MIT
#include "platform/futex.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "platform/memory.hpp"

namespace {

namespace platform = tandem::platform;
using namespace std::chrono_literals;

using word = std::atomic<std::uint32_t>;

std::int64_t in(std::chrono::nanoseconds span) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return (std::chrono::nanoseconds(now) + span).count();
}

/// Until the word is not `before` any more, as all callers wait.
void wait_while(word& of, std::uint32_t before) {
  while (of.load() == before) platform::wait_on(of, before);
}

TEST(futex, a_word_that_has_changed_already_is_not_waited_for) {
  word changed{1};
  EXPECT_TRUE(platform::wait_on(changed, 0));
  EXPECT_TRUE(platform::wait_on(changed, 0, in(-1s)));
  platform::wait_outside(changed, 0);
}

TEST(futex, a_deadline_ends_the_wait_and_never_before_its_time) {
  word same{0};
  EXPECT_FALSE(platform::wait_on(same, 0, in(-1s)));
  EXPECT_FALSE(platform::wait_on(same, 0, INT64_MIN));
  for (const auto span : {1us, 500us, 20'000us}) {
    const std::int64_t until = in(span);
    while (platform::wait_on(same, 0, until)) {}
    EXPECT_GE(in(0ns), until);
  }
}

TEST(futex, a_wake_ends_the_wait_of_a_thread) {
  word state{0};
  std::thread sleeper([&] { wait_while(state, 0); });
  state.store(1);
  platform::wake_one(state);
  sleeper.join();
  std::thread outside([&] {
    while (state.load() == 1) platform::wait_outside(state, 1);
  });
  state.store(2);
  platform::wake_one(state);
  outside.join();
}

TEST(futex, a_wake_of_one_of_many_words_reaches_whoever_waits_there) {
  // Many more words than any table has rows: some have a row in common.
  constexpr std::size_t count = 64;
  std::array<word, count> words{};
  std::vector<std::thread> sleepers;
  for (word& each : words) sleepers.emplace_back([&each] { wait_while(each, 0); });
  for (word& each : words) {
    each.store(1);
    platform::wake_one(each);
  }
  for (std::thread& each : sleepers) each.join();
}

TEST(futex, all_of_a_word_are_woken_at_once) {
  word state{0};
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 8; ++i) sleepers.emplace_back([&] { wait_while(state, 0); });
  state.store(1);
  platform::wake_all(state);
  for (std::thread& each : sleepers) each.join();
}

TEST(futex, a_word_that_is_gone_may_be_woken) {
  constexpr std::size_t bytes = std::size_t{1} << 16;
  void* const pages = platform::map_memory(bytes);
  ASSERT_NE(pages, nullptr);
  word& left = *::new (pages) word(0);
  platform::unmap_memory(pages, bytes);
  platform::wake_one(left);  // the address alone is used
  platform::wake_all(left);
}

}  // namespace
