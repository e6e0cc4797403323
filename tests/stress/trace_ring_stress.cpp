// trace_ring_stress.cpp: a ring is copied while its thread writes it.
// SPDX-License-Identifier: MIT
//
// The laws: what a copy has was written so, is in order, and nothing is missing in the middle; an
// event of several words is there with all of them, or its begin is missing.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "recorder/trace_ring.hpp"
#include "seeded.hpp"

namespace {

using tandem::detail::trace_event;
using tandem::detail::trace_ring;
using tandem::test::stress;

/// Each word is told from all others. An event with an even number has another one behind it.
trace_event numbered(std::uint64_t number) { return {number * 2 + 1, number * 2 + 2}; }

/// @returns  what is wrong with it; empty: nothing
std::string judge(const std::vector<trace_event>& copy) {
  for (std::size_t i = 0; i < copy.size(); ++i) {
    if (copy[i].second != copy[i].first + 1) return "an event has words of two";
    if (i != 0 && copy[i].first != copy[i - 1].first + 2)
      return "an event is missing, or doubled: " + std::to_string(i) + " of " +
             std::to_string(copy.size()) + " " + std::to_string(copy[i - 1].first) + " " +
             std::to_string(copy[i].first);
  }
  const std::uint64_t last = copy.empty() ? 0 : copy.back().first / 2 % 4;
  if (last == 1 || last == 2) return "an event ends in its middle";
  return "";
}

TEST(trace_ring_stress, a_copy_has_what_was_written_in_order_and_without_gaps) {
  std::uint64_t copied = 0;
  stress([&copied](auto& random) {
    trace_ring ring(std::size_t{64} << random() % 5);
    std::atomic<bool> done{false};
    std::thread writer([&ring, &done, seed = random()] {
      std::uint64_t pauses = seed;
      for (std::uint64_t number = 0; !done.load(std::memory_order_relaxed); number += 4) {
        ring.add(numbered(number).first, numbered(number).second);
        const std::array<trace_event, 3> group{numbered(number + 1), numbered(number + 2),
                                               numbered(number + 3)};
        ring.add(group.data(), group.size());
        pauses = tandem::test::mix(pauses);
        if (pauses % 64 == 0) std::this_thread::yield();
        for (std::uint64_t i = pauses % 100; i > 0; --i)
          std::atomic_signal_fence(std::memory_order_seq_cst);
      }
    });
    std::string wrong;
    for (int i = 0; i < 200 && wrong.empty(); ++i) {
      const std::vector<trace_event> copy = ring.copy();
      copied += copy.size();
      wrong = judge(copy);
    }
    done = true;
    writer.join();
    EXPECT_EQ(wrong, "");
  });
  EXPECT_GT(copied, 0U);
}

}  // namespace
