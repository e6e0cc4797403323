// futex_fork_test.cpp: a child of fork() waits and wakes, whoever waited in its parent.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <tandem/run.hpp>
#include <tandem/task.hpp>
#include <thread>
#include <vector>

#include "fork_support.hpp"
#include "platform/futex.hpp"

namespace {

namespace platform = tandem::platform;
using word = std::atomic<std::uint32_t>;

void wait_while(word& of, std::uint32_t before) {
  while (of.load() == before) platform::wait_on(of, before);
}

int use_words(std::array<word, 64>& of_parent) {
  for (word& each : of_parent) platform::wake_all(each);  // none of the sleepers is here
  std::array<word, 64> fresh{};
  std::thread waker([&fresh] {
    for (word& each : fresh) {
      each.store(1);
      platform::wake_one(each);
    }
  });
  for (word& each : fresh) wait_while(each, 0);
  waker.join();
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t soon = std::chrono::nanoseconds(now).count() + 1'000'000;
  while (platform::wait_on(of_parent.front(), 0, soon)) {}
  return 0;
}

TEST(futex, a_child_of_fork_waits_and_wakes_whoever_waited_in_the_parent) {
  if (!tandem::test::child_may_allocate) {
    GTEST_SKIP() << "the sanitizer's allocator does not survive a fork";
  }
  // The first runtime has the handlers registered.
  tandem::run([]() -> tandem::task<void> { co_return; }());
  std::array<word, 64> words{};
  std::atomic<bool> ends{false};
  std::vector<std::thread> others;
  for (word& each : words) others.emplace_back([&each] { wait_while(each, 0); });
  // One that takes locks of the table all the time.
  others.emplace_back([&] {
    word nobody{0};
    while (!ends.load()) platform::wake_one(nobody);
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(tandem::test::in_child([&words] { return use_words(words); }), 0);
  }
  ends.store(true);
  for (word& each : words) {
    each.store(1);
    platform::wake_all(each);
  }
  for (std::thread& each : others) each.join();
}

}  // namespace
