// lookout_stress.cpp: small groups of forks, and now and then one that cannot end unless another worker comes for it.
// SPDX-License-Identifier: MIT
//
// The law of protocol lookout: what an owner leaves lying is taken by somebody, however young it was, whoever was
// the lookout then, and whatever that one was woken for meanwhile. A wake-up that is lost makes a run hang.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <tandem/fork_join.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <thread>

#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::mix;
using tandem::test::stress;
using tandem::test::test_runtime;

task<int> small(int value) { co_return value; }

/// Ends when `others` of them have begun, each of which holds a thread until then.
task<int> meets(std::atomic<int>& begun, int others) {
  ++begun;
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (begun.load() < others) {
    if (std::chrono::steady_clock::now() > limit) {
      ADD_FAILURE() << "nobody has come for the other children for a minute";
      break;
    }
    std::this_thread::yield();
  }
  co_return 1;
}

/// Groups of small children, with a pause of some kind between them; then two or three that need as many
/// threads.
task<long> groups(std::uint64_t seed, int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    if (i % 2 == 0) {
      const auto [a, b, c] = co_await tandem::fork_join(small(1), small(2), small(3));
      sum += a + b + c;
    } else {
      const auto [a, b, c] = co_await tandem::when_all(small(1), small(2), small(3));
      sum += a + b + c;
    }
  }
  const std::uint64_t dice = mix(seed);
  if (dice % 3 == 0) co_await tandem::yield();
  std::atomic<int> begun{0};
  if (dice % 2 == 0) {
    const auto [a, b] = co_await tandem::fork_join(meets(begun, 2), meets(begun, 2));
    sum += a + b;
  } else {
    const auto [a, b, c] =
        co_await tandem::when_all(meets(begun, 3), meets(begun, 3), meets(begun, 3));
    sum += a + b + c;
  }
  co_return sum;
}

/// Holds a worker for a moment.
task<void> holds(std::chrono::microseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {}
  co_return;
}

TEST(lookout, what_needs_another_worker_gets_one_after_any_number_of_small_groups) {
  test_runtime rt(4);
  stress([&rt](std::mt19937_64& random) {
    const std::uint64_t seed = random();
    const int count = static_cast<int>(seed % 2000);
    auto runs = rt->spawn(groups(seed, count));
    // One other at a time: three workers are left for those that meet.
    if (mix(seed) % 4 != 0) {
      auto other = rt->spawn(holds(std::chrono::microseconds(mix(seed + 1) % 300)));
      other.wait();
    }
    ASSERT_EQ(runs.wait() % 6, mix(seed) % 2 == 0 ? 2 : 3);
  });
}

}  // namespace
