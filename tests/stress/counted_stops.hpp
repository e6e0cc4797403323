// counted_stops.hpp: stops against operations of a kind, by number: what became of each, and when there were enough.
// SPDX-License-Identifier: MIT
//
// All kinds together meet 1,000,000 operations in the nightly run, and a fiftieth of them in CI. Whoever stops counts the
// stops, and whoever awaits counts the ends, so an operation with two ends, or none, is found by the sums.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <random>

#include "seeded.hpp"

namespace tandem::test {

/// What became of the stops of one kind.
struct stop_ends {
  std::atomic<int> made{0};    // by those who stop
  std::atomic<int> before{0};  // the operation had not begun
  std::atomic<int> done{0};    // too late
  std::atomic<int> stopped{0};
  std::atomic<int> failed{0};  // the stop of a peer was an error here

  /// Stops that came while the operation was there, or had just been.
  int met() const noexcept { return done + stopped + failed; }
};

/// How many operations of a kind this run has to meet.
constexpr int ci_part = 50;
inline int quota(int of_a_night) { return is_nightly() ? of_a_night : of_a_night / ci_part; }

/// Whether enough has been met, and each end seen. One that never comes is waited for for a while only, so that the
/// checks below name it.
inline bool is_enough(const stop_ends& all, int count) {
  return all.met() >= count && ((all.done > 0 && all.stopped > 0) || all.met() >= 20 * count);
}

/// After each round: one end each.
inline void expect_one_end_each(const stop_ends& all, const char* kind) {
  EXPECT_EQ(all.before + all.met(), all.made) << kind;
}

/// At the end: each end was seen; and says the numbers.
inline void expect_all_ends(const stop_ends& all, int count, const char* kind) {
  std::printf("%s: %d stops: %d before it began, %d too late, %d ended it, %d failed by a peer's\n",
              kind, all.made.load(), all.before.load(), all.done.load(), all.stopped.load(),
              all.failed.load());
  EXPECT_GE(all.met(), count) << kind;
  EXPECT_GT(all.before, 0) << kind;
  EXPECT_GT(all.done, 0) << kind;
  EXPECT_GT(all.stopped, 0) << kind;
}

/// Rounds until `is_over()`; in the nightly run at least its time.
template <class IsOver, class Round>
void in_counted_rounds(IsOver is_over, Round round) {
  stress_until(std::chrono::milliseconds(0), is_over, round);
}

}  // namespace tandem::test
