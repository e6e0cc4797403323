// rush_hour_puzzle_test.cpp: laws of Rush Hour in both metrics, over whole graphs.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rush_hour.hpp"

namespace {

using namespace puzzles;
using graph = std::unordered_map<std::uint64_t, unsigned>;

/// Distances from `roots`, by their packed positions.
graph distances(const rush_hour_puzzle& puzzle, std::vector<std::uint64_t> queue) {
  graph found;
  for (const std::uint64_t root : queue) found.emplace(root, 0);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto at = puzzle.unpack(queue[i]);
    const unsigned depth = found.at(queue[i]);
    for (const rush_hour_move by : puzzle.legal_moves(at)) {
      const std::uint64_t next = puzzle.pack(puzzle.apply(at, by));
      if (found.emplace(next, depth + 1).second) queue.push_back(next);
    }
  }
  return found;
}

std::vector<std::uint64_t> solved_of(const rush_hour_puzzle& puzzle, const graph& all) {
  std::vector<std::uint64_t> solved;
  for (const auto& each : all) {
    if (puzzle.is_goal(puzzle.unpack(each.first))) solved.push_back(each.first);
  }
  return solved;
}

class known_board {
 public:
  const char* text;
  unsigned moves;
  unsigned steps;
};

// The last two: walls, long cars, several cars on one line.
const known_board boards[] = {{"BBBoLoCCooLMIAAJoMIooJoMEEoKoooooKoo", 3, 7},
                              {"BBoKMxDDDKMoIAALooIoJLEEooJFFNoGGoxN", 58, 110},
                              {"....../..B.../AAB..C/..x..C/DD.EEC/......", 3, 6},
                              {"F...GH/F...GH/AAA.GH/x...../.BBDD./CCCC..", 5, 11}};

TEST(rush_hour_puzzle, given_boards_need_so_many_moves_and_steps) {
  for (const known_board& known : boards) {
    for (const auto& [counted, shortest] :
         {std::pair(metric::moves, known.moves), {metric::steps, known.steps}}) {
      const rush_hour_puzzle puzzle(rush_hour_board::parse(known.text), counted);
      const graph all = distances(puzzle, {puzzle.pack(puzzle.initial())});
      unsigned nearest = 1000;
      for (const std::uint64_t solved : solved_of(puzzle, all)) {
        nearest = std::min(nearest, all.at(solved));
      }
      EXPECT_EQ(nearest, shortest) << known.text << ' ' << to_string(counted);
    }
  }
}

TEST(rush_hour_puzzle, estimate_never_exceeds_the_distance) {
  for (const known_board& known : boards) {
    for (const metric counted : {metric::moves, metric::steps}) {
      const rush_hour_puzzle puzzle(rush_hour_board::parse(known.text), counted);
      const graph all = distances(puzzle, {puzzle.pack(puzzle.initial())});
      const graph to_goal = distances(puzzle, solved_of(puzzle, all));
      ASSERT_EQ(all.size(), to_goal.size());
      for (const auto& [packed, distance] : to_goal) {
        const auto at = puzzle.unpack(packed);
        ASSERT_LE(puzzle.heuristic(at), distance) << known.text;
        ASSERT_EQ(puzzle.heuristic(at) == 0, distance == 0);
      }
    }
  }
}

TEST(rush_hour_puzzle, every_move_can_be_taken_back_and_keeps_the_mask_of_taken_cells) {
  for (const known_board& known : boards) {
    const rush_hour_puzzle puzzle(rush_hour_board::parse(known.text));
    for (const auto& each : distances(puzzle, {puzzle.pack(puzzle.initial())})) {
      const auto at = puzzle.unpack(each.first);
      for (const rush_hour_move by : puzzle.legal_moves(at)) {
        const auto next = puzzle.apply(at, by);
        ASSERT_NE(next, at);
        ASSERT_EQ(next.taken, puzzle.unpack(puzzle.pack(next)).taken);
        ASSERT_EQ(puzzle.apply(next, puzzle.inverse(at, by)), at);
      }
    }
  }
}

TEST(rush_hour_puzzle, goals_hold_every_reachable_solved_position_and_each_once) {
  for (const known_board& known : boards) {
    const rush_hour_puzzle puzzle(rush_hour_board::parse(known.text));
    std::vector<std::uint64_t> goals;
    for (const auto& each : puzzle.goals()) {
      ASSERT_TRUE(puzzle.is_goal(each));
      ASSERT_EQ(each.taken, puzzle.unpack(puzzle.pack(each)).taken);
      goals.push_back(puzzle.pack(each));
    }
    std::sort(goals.begin(), goals.end());
    EXPECT_EQ(std::adjacent_find(goals.begin(), goals.end()), goals.end());
    const graph all = distances(puzzle, {puzzle.pack(puzzle.initial())});
    for (const std::uint64_t solved : solved_of(puzzle, all)) {
      ASSERT_TRUE(std::binary_search(goals.begin(), goals.end(), solved)) << known.text;
    }
  }
}

TEST(rush_hour_puzzle, names_its_goals_only_if_they_are_not_too_many) {
  // Each of the other five rows has one car at five places, or two at six.
  const auto few = rush_hour_board::parse("BB..../CC..../AA..../DD..../EE..../FF....");
  EXPECT_EQ(rush_hour_puzzle(few).goals().size(), 3125U);
  const auto some = rush_hour_board::parse("BBGG../CCHH../AA..../DDII../EE..../FF....");
  EXPECT_EQ(rush_hour_puzzle(some).goals().size(), 6U * 6 * 6 * 5 * 5);
  const auto many = rush_hour_board::parse("B....C/B....C/AA..../D....E/D....E/......");
  EXPECT_EQ(rush_hour_puzzle(many).goals().size(), 6U * 2);
}

TEST(rush_hour_puzzle, estimate_tells_an_exit_that_can_never_be_reached) {
  for (const char* text :
       {"....../....../AA...x/....../....../......", "....../....../AA..BB/....../....../......",
        "....B./....B./AA..B./....B./....../......", "....x./....B./AA..B./....B./....x./......"}) {
    const rush_hour_puzzle puzzle(rush_hour_board::parse(text));
    EXPECT_EQ(puzzle.heuristic(puzzle.initial()), tandem::unreachable) << text;
    const graph all = distances(puzzle, {puzzle.pack(puzzle.initial())});
    EXPECT_TRUE(solved_of(puzzle, all).empty());
  }
}

TEST(rush_hour_board, describes_moves_by_unit_steps_and_reads_them_back) {
  rush_hour_board board = rush_hour_board::parse("....../....../AA..B./....B./....../......");
  EXPECT_EQ(board.describe(rush_hour_move(0, 0, 2)), "A right right");
  EXPECT_EQ(board.describe(rush_hour_move(1, 2, 0)), "B up up");
  const rush_hour_move move = board.parse_move("B down");
  EXPECT_EQ(move.car, 1);
  EXPECT_EQ(move.from, 2);
  EXPECT_EQ(move.to, 3);
  board.apply(move);
  EXPECT_EQ(board.draw(), "......\n......\nAA....\n....B.\n....B.\n......\n");
  for (const char* wrong : {"", "A", "Z up", "A up", "A left", "B down down", "A right up"}) {
    EXPECT_THROW((void)board.parse_move(wrong), std::invalid_argument) << wrong;
  }
}

}  // namespace
