// scripted_stream.hpp: streams for tests of readers and writers: short transfers and failures by a seed.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <span>
#include <tandem/errors.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

#include "seeded.hpp"

namespace tandem::test {

/// Gives its bytes in pieces of random sizes; now and then a call fails and gives none, as one that
/// was stopped does.
class scripted_source {
 public:
  scripted_source(std::vector<std::byte> bytes, std::uint64_t seed, bool fails = false)
      : bytes_(std::move(bytes)), dice_(seed), fails_(fails) {}

  task<std::size_t> read(std::span<std::byte> room) {
    if (fails_ && dice_() % 3 == 0) throw operation_cancelled(stop_reason::deadline);
    const std::size_t most = std::min(room.size(), bytes_.size() - at_);
    if (most == 0) co_return 0;
    const std::size_t count = 1 + dice_() % std::min<std::size_t>(most, 1 + dice_() % 40);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), count, room.begin());
    at_ += count;
    co_return count;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  std::mt19937_64 dice_;
  bool fails_;
};

/// Takes everything, in pieces of random sizes; now and then a call fails and takes nothing.
class scripted_sink {
 public:
  explicit scripted_sink(std::uint64_t seed, bool fails = false) : dice_(seed), fails_(fails) {}

  task<std::size_t> write(std::span<const std::byte> bytes) {
    if (fails_ && dice_() % 3 == 0) throw operation_cancelled(stop_reason::deadline);
    const std::size_t count = std::min<std::size_t>(bytes.size(), 1 + dice_() % 40);
    taken.insert(taken.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    ++calls;
    co_return count;
  }
  task<void> write_all(std::span<const std::byte> bytes) {
    taken.insert(taken.end(), bytes.begin(), bytes.end());
    ++calls;
    co_return;
  }
  void shutdown() { ended = true; }

  std::vector<std::byte> taken;
  int calls = 0;
  bool ended = false;

 private:
  std::mt19937_64 dice_;
  bool fails_;
};

/// Only write_all().
class plain_sink {
 public:
  task<void> write_all(std::span<const std::byte> bytes) {
    if (std::exchange(fails_next, false)) throw operation_cancelled(stop_reason::deadline);
    taken.insert(taken.end(), bytes.begin(), bytes.end());
    co_return;
  }
  std::vector<std::byte> taken;
  bool fails_next = false;
};

/// Calls `round(random)` a number of times; the seed is printed.
template <class Round>
void for_rounds(int count, Round round) {
  std::mt19937_64 random(stress_seed());
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) round(random);
}

/// Repeats a call whose failures take nothing, until it succeeds.
template <class Make>
auto until_done(Make make) -> decltype(make()) {
  while (true) {
    try {
      co_return co_await make();
    } catch (const operation_cancelled&) {
      continue;
    }
  }
}

}  // namespace tandem::test
