// futex_stress.cpp: no wake-up of a word is lost, and no deadline wakes for another one.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include <tandem/detail/futex_mutex.hpp>

#include "platform/futex.hpp"
#include "seeded.hpp"

namespace {

namespace platform = tandem::platform;
using tandem::test::stress;
using word = std::atomic<std::uint32_t>;

std::int64_t in(std::chrono::nanoseconds span) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return (std::chrono::nanoseconds(now) + span).count();
}

/// Waits, by a deadline now and then, until the word is `wanted`.
void wait_until(word& of, std::uint32_t wanted, std::uint64_t& dice) {
  while (true) {
    const std::uint32_t seen = of.load();
    if (seen == wanted) return;
    dice = tandem::test::mix(dice);
    if (dice % 4 == 0) {
      const std::int64_t until = in(std::chrono::nanoseconds(dice / 4 % 20'000));
      const bool is_told = platform::wait_on(of, seen, until);
      ASSERT_TRUE(is_told || in({}) >= until);
    } else {
      platform::wait_on(of, seen);
    }
  }
}

TEST(futex, a_token_that_goes_round_is_never_lost) {
  // Each thread waits for its word and then wakes the next one: one wake that is lost stops them
  // all. The words lie anywhere among many, so that some have a row of a table in common.
  stress([](std::mt19937_64& random) {
    constexpr std::size_t in_ring = 3;
    constexpr std::size_t rings = 4;
    constexpr std::uint32_t laps = 300;
    std::vector<word> all(1024);
    std::array<word*, in_ring * rings> words{};
    const std::size_t stride = all.size() / words.size();
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = &all[i * stride + random() % stride];
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < words.size(); ++i) {
      threads.emplace_back([&words, i, dice = random()]() mutable {
        const std::size_t ring = i / in_ring * in_ring;
        word& next = *words[ring + (i + 1) % in_ring];
        for (std::uint32_t lap = 1; lap <= laps; ++lap) {
          if (i != ring || lap != 1) wait_until(*words[i], i == ring ? lap - 1 : lap, dice);
          next.store(lap);
          platform::wake_one(next);
        }
      });
    }
    for (std::thread& each : threads) each.join();
  });
}

TEST(futex, a_broadcast_reaches_all_and_leaves_the_other_words_alone) {
  stress([](std::mt19937_64& random) {
    constexpr std::uint32_t rounds = 100;
    constexpr std::uint32_t waiters = 5;
    std::array<word, 2> gates{};
    std::array<word, 2> arrived{};
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < 2 * waiters; ++i) {
      threads.emplace_back([&, side = i % 2, dice = random()]() mutable {
        for (std::uint32_t round = 1; round <= rounds; ++round) {
          wait_until(gates[side], round, dice);
          arrived[side].fetch_add(1);
          platform::wake_one(arrived[side]);
        }
      });
    }
    std::uint64_t dice = random();
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      for (std::size_t side : {std::size_t{dice % 2}, std::size_t{1 - dice % 2}}) {
        gates[side].store(round);
        platform::wake_all(gates[side]);
      }
      for (word& each : arrived) wait_until(each, round * waiters, dice);
    }
    for (std::thread& each : threads) each.join();
  });
}

TEST(futex_mutex, those_inside_are_alone_and_all_of_them_come_in) {
  stress([](std::mt19937_64& random) {
    constexpr int rounds = 2000;
    tandem::detail::futex_mutex lock;
    int inside = 0;
    long entered = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, dice = random()]() mutable {
        for (int round = 0; round < rounds; ++round) {
          const std::lock_guard guard(lock);
          ASSERT_EQ(++inside, 1);
          dice = tandem::test::mix(dice);
          if (dice % 16 == 0) std::this_thread::yield();  // so that the others go to sleep
          --inside;
          ++entered;
        }
      });
    }
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(entered, 4L * rounds);
  });
}

}  // namespace
