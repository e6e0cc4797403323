// klotski_puzzle_test.cpp: laws of Klotski in both metrics, over the whole graph of Heng Dao Li Ma.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "klotski.hpp"

namespace {

using namespace puzzles;

/// Distances from `roots` over all that can be reached from them.
std::unordered_map<std::uint64_t, unsigned> distances(const klotski_puzzle& puzzle,
                                                      std::vector<std::uint64_t> queue) {
  std::unordered_map<std::uint64_t, unsigned> found;
  for (const std::uint64_t root : queue) found.emplace(root, 0);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint64_t at = queue[i];
    const unsigned depth = found.at(at);
    for (const klotski_move by : puzzle.legal_moves(at)) {
      const std::uint64_t next = puzzle.apply(at, by);
      if (found.emplace(next, depth + 1).second) queue.push_back(next);
    }
  }
  return found;
}

// Boards with 2, 3, 4 and 13 empty cells.
const char* const boards[] = {"ABBC/ABBC/DEEF/DGHF/I..J", "ABBC/ABBC/DEEF/D.HF/I..J",
                              "ABBC/ABBC/DEEF/D..F/I..J", "BB../BB../.A../..../CC.."};

TEST(klotski_puzzle, heng_dao_li_ma_has_25955_positions_and_needs_116_steps_or_81_moves) {
  for (const auto& [counted, shortest] : {std::pair(metric::steps, 116U), {metric::moves, 81U}}) {
    const klotski_puzzle puzzle(klotski_board::classic(), counted);
    const auto from_start = distances(puzzle, {puzzle.initial()});
    EXPECT_EQ(from_start.size(), 25'955U);
    unsigned nearest = 1000;
    for (const auto& [at, depth] : from_start) {
      if (puzzle.is_goal(at)) nearest = std::min(nearest, depth);
    }
    EXPECT_EQ(nearest, shortest);
  }
}

TEST(klotski_puzzle, estimate_never_exceeds_the_distance_and_differs_by_one_at_most) {
  for (const char* text : boards) {
    for (const metric counted : {metric::steps, metric::moves}) {
      const klotski_puzzle puzzle(klotski_board::parse(text), counted);
      std::vector<std::uint64_t> solved;
      const auto all = distances(puzzle, {puzzle.initial()});
      for (const auto& each : all) {
        if (puzzle.is_goal(each.first)) solved.push_back(each.first);
      }
      ASSERT_FALSE(solved.empty());
      const auto to_goal = distances(puzzle, solved);
      for (const auto& [at, distance] : to_goal) {
        const unsigned here = puzzle.heuristic(at);
        ASSERT_LE(here, distance) << text;
        ASSERT_EQ(here == 0, distance == 0);
        for (const klotski_move by : puzzle.legal_moves(at)) {
          ASSERT_LE(here, puzzle.heuristic(puzzle.apply(at, by)) + 1);
        }
      }
    }
  }
}

TEST(klotski_puzzle, every_move_has_its_inverse_and_its_route) {
  for (const metric counted : {metric::steps, metric::moves}) {
    const klotski_puzzle puzzle(klotski_board::classic(), counted);
    for (const auto& [at, depth] : distances(puzzle, {puzzle.initial()})) {
      for (const klotski_move by : puzzle.legal_moves(at)) {
        const std::uint64_t next = puzzle.apply(at, by);
        ASSERT_NE(next, at);
        ASSERT_EQ(puzzle.apply(next, puzzle.inverse(at, by)), at);
        const auto route = klotski_route(at, by);
        ASSERT_EQ(counted == metric::steps ? route.size() : 1, 1U);
        ASSERT_FALSE(route.empty());
      }
    }
  }
}

TEST(klotski_puzzle, goals_are_all_reachable_solved_positions_and_each_is_named_once) {
  for (const char* text : boards) {
    const klotski_puzzle puzzle(klotski_board::parse(text));
    auto goals = puzzle.goals();
    std::sort(goals.begin(), goals.end());
    EXPECT_EQ(std::adjacent_find(goals.begin(), goals.end()), goals.end());
    for (const std::uint64_t goal : goals) ASSERT_TRUE(puzzle.is_goal(goal));
    for (const auto& each : distances(puzzle, {puzzle.initial()})) {
      ASSERT_EQ(std::binary_search(goals.begin(), goals.end(), each.first),
                puzzle.is_goal(each.first));
    }
  }
}

TEST(klotski_board, describes_moves_by_unit_steps_and_reads_them_back) {
  klotski_board board = klotski_board::parse("..../.A../..../.BB./.BB.");
  EXPECT_EQ(board.describe(klotski_move(5, 5 + 4 + 1)), "A right down");
  const klotski_move move = board.parse_move("A right right down");
  EXPECT_EQ(move.from, 5);
  EXPECT_EQ(move.to, 11);
  board.apply(move);
  EXPECT_EQ(board.draw(), "....\n....\n...A\n.BB.\n.BB.\n");
  for (const char* wrong : {"", "A", "Z up", "A sideways", "A up up up up", "A upup", ". up"}) {
    EXPECT_THROW((void)board.parse_move(wrong), std::invalid_argument) << wrong;
  }
}

}  // namespace
