// frame_memory_stress.cpp: threads that take, pass on and free frames, and end, beside others that trim the store.
// SPDX-License-Identifier: MIT
//
// The laws: no two have the same block at the same time; what is written in a block stays there;
// when all threads have ended and everything is free, trimming leaves one region.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <tandem/detail/frame_idle.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "seeded.hpp"

namespace {

using tandem::detail::allocate_frame;
using tandem::detail::free_frame;
using tandem::test::stress;

/// A frame that knows its size and what is written at both of its ends.
class stamped {
 public:
  stamped(std::size_t bytes, std::uint64_t stamp) : bytes_(bytes), stamp_(stamp) {
    words_ = static_cast<std::uint64_t*>(allocate_frame(bytes));
    words_[0] = words_[bytes / sizeof(stamp) - 1] = stamp;
  }
  /// @returns  whether what was written is still there
  bool give_back() {
    const bool whole = words_[0] == stamp_ && words_[bytes_ / sizeof(stamp_) - 1] == stamp_;
    words_[0] = words_[bytes_ / sizeof(stamp_) - 1] = 0;
    free_frame(words_, bytes_);
    return whole;
  }

 private:
  std::size_t bytes_;
  std::uint64_t stamp_;
  std::uint64_t* words_;
};

/// What threads leave to others.
class exchange {
 public:
  void swap(std::vector<stamped>& mine) {
    const std::lock_guard lock(lock_);
    left_.swap(mine);
  }

 private:
  std::mutex lock_;
  std::vector<stamped> left_;
};

bool free_all(std::vector<stamped>& frames) {
  bool whole = true;
  for (stamped& each : frames) whole &= each.give_back();
  frames.clear();
  return whole;
}

/// A short life: bursts of frames of one size and of many, some for itself, some for others.
bool live(std::uint64_t seed, exchange& others) {
  std::mt19937_64 random(seed);
  constexpr std::array<std::size_t, 4> sizes = {64, 256, 1000, 2000};
  bool whole = true;
  std::vector<stamped> mine;
  for (int turn = 0; turn < 8; ++turn) {
    const std::size_t count = random() % 6000;
    const std::size_t bytes = sizes[random() % sizes.size()];
    for (std::size_t i = 0; i < count; ++i) {
      mine.emplace_back(i % 8 == 0 ? 16 + random() % 1200 / 8 * 8 : bytes, random() | 1);
    }
    switch (random() % 4) {
      case 0: whole &= free_all(mine); break;
      case 1: tandem::detail::trim_frame_cache(); break;
      default: others.swap(mine); break;
    }
  }
  return free_all(mine) && whole;
}

TEST(frame_memory, trimming_takes_nothing_from_threads_that_come_and_go) {
  stress([](std::mt19937_64& random) {
    exchange others;
    std::atomic<bool> enough{false};
    std::atomic<int> broken{0};
    std::vector<std::thread> trimmers;
    for (int i = 0; i < 2; ++i) {
      trimmers.emplace_back([&enough] {
        while (!enough) (void)tandem::detail::trim_frame_store();
      });
    }
    for (int generation = 0; generation < 3; ++generation) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, seed = random()] {
          if (!live(seed, others)) ++broken;
        });
      }
      for (std::thread& each : threads) each.join();
    }
    enough = true;
    for (std::thread& each : trimmers) each.join();
    std::vector<stamped> last;
    others.swap(last);
    if (!free_all(last)) ++broken;
    EXPECT_EQ(broken, 0);
    tandem::detail::trim_frame_store_for_good();
    EXPECT_LE(tandem::detail::count_frame_store().mapped_bytes, std::size_t{2} << 20);
  });
}

}  // namespace
