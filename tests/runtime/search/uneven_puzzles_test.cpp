// uneven_puzzles_test.cpp: searches through positions that are far dearer, or have far more moves, than others.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ranges>
#include <thread>
#include <vector>

#include <tandem/detail/search/search_arena.hpp>
#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

/// A hub with so many neighbours, from the last of which a path of three leads to the goal.
class hub {
 public:
  using position = int;
  using move = int;

  explicit hub(int neighbours) : neighbours_(neighbours) {}

  int initial() const { return 0; }
  bool is_goal(int at) const { return at == neighbours_ + 3; }
  std::vector<int> legal_moves(int at) const {
    if (at == 0) {
      const auto all = std::views::iota(1, neighbours_ + 1);
      return {all.begin(), all.end()};
    }
    if (at < neighbours_) return {};
    return at == neighbours_ + 3 ? std::vector<int>() : std::vector<int>{at + 1};
  }
  int apply(int, int to) const { return to; }
  int inverse(int from, int) const { return from; }
  std::vector<int> goals() const { return {neighbours_ + 3}; }

 private:
  int neighbours_;
};

// A round of the level after the hub had no position in it, and the search went round for ever.
TEST(uneven_puzzles, a_hub_with_more_neighbours_than_a_round_takes_is_gone_through) {
  for (const unsigned threads : {1U, 2U}) {
    const hub puzzle(static_cast<int>(40'000 * threads));
    for (const solver which : {solver::breadth_first, solver::best_first}) {
      const auto found = solve_on(threads, puzzle, which);
      ASSERT_TRUE(found.solved()) << name_of(which);
      EXPECT_EQ(found.path.size(), 4U) << name_of(which);
      EXPECT_EQ(found.nodes, 40'000U * threads + 4) << name_of(which);
    }
  }
}

/// Levels of 64 positions, each of which takes half a millisecond to expand.
class dear_levels {
 public:
  using position = int;
  using move = int;
  static constexpr int width = 64;
  static constexpr int depth = 12;

  int initial() const { return 0; }
  bool is_goal(int) const { return false; }
  std::vector<int> legal_moves(int at) const {
    if (at == 0) {
      const auto all = std::views::iota(1, width + 1);
      return {all.begin(), all.end()};
    }
    const int here = ++at_once;
    const auto until = std::chrono::steady_clock::now() + 500us;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
    --at_once;
    if (at <= width * 3) return {at + width};  // the paces are still being found
    int most = most_at_once.load();
    while (most < here && !most_at_once.compare_exchange_weak(most, here)) {}
    return at <= width * (depth - 1) ? std::vector<int>{at + width} : std::vector<int>();
  }
  int apply(int, int to) const { return to; }

  mutable std::atomic<int> at_once{0};
  mutable std::atomic<int> most_at_once{0};
};

// To enter a position is a thousand times cheaper here than to expand it: whoever takes one pace for both expands such
// levels on one worker, all but the first.
TEST(uneven_puzzles, dear_positions_are_expanded_by_several_workers_at_every_level) {
  const dear_levels puzzle;
  const auto found = solve_on<solver::breadth_first>(4, puzzle);
  EXPECT_EQ(found.nodes, 1U + dear_levels::width * dear_levels::depth);
  EXPECT_GE(puzzle.most_at_once.load(), 2);
}

TEST(search_arena, gives_what_is_asked_for_at_the_alignment_that_is_asked_for) {
  detail::search_arena arena;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t alignment = std::size_t{1} << (3 + i % 10);
    const auto at = reinterpret_cast<std::uintptr_t>(
        arena.take(100 + static_cast<std::size_t>(i) * 7 % 5000, alignment));
    EXPECT_EQ(at % alignment, 0U) << i;
  }
}

}  // namespace
