// sliding_puzzle_test.cpp: laws of the estimate of sliding tiles, over whole graphs and random walks.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "sliding.hpp"

namespace {

using namespace puzzles;
using board = std::vector<int>;

/// Tiles that have to leave a line, found by trying all sets of them.
int tiles_in_the_way(const std::vector<int>& places) {
  const auto count = static_cast<unsigned>(places.size());
  int fewest = static_cast<int>(count);
  for (unsigned leaving = 0; leaving < 1U << count; ++leaving) {
    std::vector<int> staying;
    for (unsigned i = 0; i < count; ++i) {
      if ((leaving >> i & 1) == 0) staying.push_back(places[i]);
    }
    if (std::is_sorted(staying.begin(), staying.end())) {
      fewest = std::min(fewest, static_cast<int>(count - staying.size()));
    }
  }
  return fewest;
}

/// Manhattan distances and linear conflicts, straight from their definition.
int reference(int rows, int cols, const board& at, const board& goal) {
  int sum = 0;
  std::vector<std::vector<int>> in_rows(static_cast<std::size_t>(rows));
  std::vector<std::vector<int>> in_cols(static_cast<std::size_t>(cols));
  for (int cell = 0; cell < rows * cols; ++cell) {
    const int tile = at[static_cast<std::size_t>(cell)];
    if (tile == 0) continue;
    const auto home = static_cast<int>(std::find(goal.begin(), goal.end(), tile) - goal.begin());
    sum += std::abs(cell / cols - home / cols) + std::abs(cell % cols - home % cols);
    if (cell / cols == home / cols) {
      in_rows[static_cast<std::size_t>(cell / cols)].push_back(home % cols);
    }
    if (cell % cols == home % cols) {
      in_cols[static_cast<std::size_t>(cell % cols)].push_back(home / cols);
    }
  }
  for (const auto& line : in_rows) sum += 2 * tiles_in_the_way(line);
  for (const auto& line : in_cols) sum += 2 * tiles_in_the_way(line);
  return sum;
}

template <class Tiles>
board tiles_of(const Tiles& tiles, int cells) {
  board read;
  for (unsigned cell = 0; cell < static_cast<unsigned>(cells); ++cell) {
    read.push_back(static_cast<int>(tiles[cell]));
  }
  return read;
}

using eight = sliding_puzzle<packed_tiles>;

/// All positions from which the goal can be reached, by their distance from it.
std::vector<std::pair<eight::position, unsigned>> distances_to(const board& goal, unsigned rows,
                                                               unsigned cols) {
  const eight puzzle(rows, cols, goal, goal);
  std::vector<std::pair<eight::position, unsigned>> found{{puzzle.initial(), 0}};
  std::unordered_map<std::uint64_t, unsigned> depths{{puzzle.hash(found[0].first), 0}};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [at, depth] = found[i];
    for (const auto by : puzzle.legal_moves(at)) {
      const auto next = puzzle.apply(at, by);
      if (depths.emplace(puzzle.hash(next), depth + 1).second) found.emplace_back(next, depth + 1);
    }
  }
  return found;
}

TEST(sliding_estimate, never_exceeds_the_distance_and_differs_by_one_between_neighbours) {
  const std::vector<board> goals{{1, 2, 3, 4, 5, 6, 7, 8, 0},
                                 {0, 1, 2, 3, 4, 5, 6, 7, 8},
                                 {1, 2, 3, 8, 0, 4, 7, 6, 5},
                                 {8, 6, 7, 2, 5, 4, 3, 0, 1}};
  for (const board& goal : goals) {
    const eight puzzle(3, 3, goal, goal);
    const auto all = distances_to(goal, 3, 3);
    ASSERT_EQ(all.size(), 181'440U);
    std::uint64_t exact = 0;
    for (const auto& [at, distance] : all) {
      const std::uint32_t here = puzzle.heuristic(at);
      ASSERT_LE(here, distance);
      ASSERT_EQ(here == 0, distance == 0);
      ASSERT_EQ(here % 2, distance % 2);
      exact += here == distance ? 1 : 0;
      for (const auto by : puzzle.legal_moves(at)) {
        const std::uint32_t next = puzzle.heuristic(puzzle.apply(at, by));
        ASSERT_EQ(std::max(here, next) - std::min(here, next), 1U);
      }
    }
    EXPECT_GT(exact, 1'000U);
  }
}

TEST(sliding_estimate, is_the_same_brought_up_to_date_computed_anew_and_by_definition) {
  const auto all = distances_to({1, 2, 3, 4, 5, 6, 7, 8, 0}, 3, 3);
  const eight puzzle(3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 0}, {1, 2, 3, 4, 5, 6, 7, 8, 0});
  for (std::size_t i = 0; i < all.size(); i += 7) {
    const auto& at = all[i].first;
    ASSERT_EQ(at.estimate, puzzle.unpack(puzzle.pack(at)).estimate);
    ASSERT_EQ(static_cast<int>(at.estimate),
              reference(3, 3, tiles_of(at.tiles, 9), {1, 2, 3, 4, 5, 6, 7, 8, 0}));
  }
}

template <class Tiles>
void walk(unsigned rows, unsigned cols, std::uint64_t seed) {
  const auto cells = static_cast<int>(rows * cols);
  std::mt19937_64 random(seed);
  board goal(static_cast<std::size_t>(cells));
  std::iota(goal.begin(), goal.end(), 0);
  std::shuffle(goal.begin(), goal.end(), random);
  const sliding_puzzle<Tiles> puzzle(rows, cols, goal, goal);
  auto at = puzzle.initial();
  ASSERT_EQ(puzzle.heuristic(at), 0U);
  for (int step = 0; step < 2000; ++step) {
    const auto moves = puzzle.legal_moves(at);
    const auto by = moves.begin()[random() % static_cast<std::size_t>(moves.end() - moves.begin())];
    const auto next = puzzle.apply(at, by);
    ASSERT_EQ(puzzle.apply(next, puzzle.inverse(at, by)), at);
    ASSERT_EQ(next.blank, next.tiles.blank());
    ASSERT_EQ(next.estimate, puzzle.unpack(puzzle.pack(next)).estimate);
    if (step % 10 == 0) {
      ASSERT_EQ(static_cast<int>(next.estimate),
                reference(static_cast<int>(rows), static_cast<int>(cols),
                          tiles_of(next.tiles, cells), goal))
          << rows << " x " << cols << ", step " << step;
    }
    at = next;
  }
}

TEST(sliding_estimate, stays_right_on_random_walks_over_boards_of_every_form) {
  const std::uint64_t seed = tandem::test::stress_seed();
  for (const auto& [rows, cols] : std::vector<std::pair<unsigned, unsigned>>{{1, 2},
                                                                             {2, 1},
                                                                             {1, 7},
                                                                             {9, 1},
                                                                             {2, 2},
                                                                             {2, 3},
                                                                             {3, 2},
                                                                             {4, 2},
                                                                             {2, 4},
                                                                             {3, 4},
                                                                             {4, 3},
                                                                             {4, 4},
                                                                             {2, 5},
                                                                             {5, 2},
                                                                             {3, 5},
                                                                             {5, 3},
                                                                             {2, 8},
                                                                             {8, 2},
                                                                             {1, 12}}) {
    walk<packed_tiles>(rows, cols, seed);
    walk<byte_tiles>(rows, cols, seed);
  }
  walk<byte_tiles>(5, 5, seed);
  walk<byte_tiles>(4, 6, seed);
  walk<byte_tiles>(7, 3, seed);
}

TEST(sliding_estimate, says_of_exactly_half_of_all_boards_that_they_cannot_be_solved) {
  for (const auto& [rows, cols] :
       std::vector<std::pair<unsigned, unsigned>>{{2, 2}, {2, 3}, {3, 2}}) {
    board goal(rows * cols);
    std::iota(goal.begin(), goal.end(), 0);
    const auto reachable = distances_to(goal, rows, cols);
    std::unordered_map<std::uint64_t, bool> solvable;
    const eight from_goal(rows, cols, goal, goal);
    for (const auto& each : reachable) solvable[from_goal.hash(each.first)] = true;
    board start = goal;
    std::uint64_t boards = 0;
    do {
      const eight puzzle(rows, cols, start, goal);
      const bool said = puzzle.heuristic(puzzle.initial()) < tandem::unreachable;
      ASSERT_EQ(said, solvable.contains(puzzle.hash(puzzle.initial())));
      ++boards;
    } while (std::next_permutation(start.begin(), start.end()));
    EXPECT_EQ(reachable.size() * 2, boards);
  }
}

TEST(sliding_estimate, tells_boards_of_one_line_whose_order_is_wrong) {
  EXPECT_TRUE(sliding_solvable(1, 4, {1, 2, 0, 3}, {0, 1, 2, 3}));
  EXPECT_FALSE(sliding_solvable(1, 4, {2, 1, 0, 3}, {0, 1, 2, 3}));
  EXPECT_TRUE(sliding_solvable(4, 1, {1, 2, 3, 0}, {0, 1, 2, 3}));
  EXPECT_FALSE(sliding_solvable(4, 1, {3, 1, 2, 0}, {0, 1, 2, 3}));
  EXPECT_TRUE(sliding_solvable(1, 1, {0}, {0}));
}

TEST(sliding_puzzle, packed_position_has_16_bytes_and_packs_into_8) {
  static_assert(sizeof(sliding_position<packed_tiles>) == 16);
  static_assert(tandem::guided_puzzle<eight> && tandem::two_way_puzzle<eight> &&
                tandem::packed_puzzle<eight>);
  static_assert(!tandem::guided_puzzle<sliding_puzzle<packed_tiles, guidance::none>>);
  static_assert(tandem::two_way_puzzle<sliding_puzzle<byte_tiles>> &&
                tandem::packed_puzzle<sliding_puzzle<byte_tiles>>);
  EXPECT_EQ(sizeof(eight(2, 2, {1, 2, 3, 0}, {1, 2, 3, 0}).pack({})), 8U);
}

}  // namespace
