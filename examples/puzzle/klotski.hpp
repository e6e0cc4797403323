// klotski.hpp: Klotski on the classic board, 4 wide and 5 high, such as Heng Dao Li Ma.
// SPDX-License-Identifier: MIT
//
// A position is 20 cells of 3 bits (klotski_shapes.hpp). It names shapes, not pieces: two positions
// that differ only by the exchange of equal shapes are the same number. The block has to get to the
// bottom centre. A move is a piece and where it goes: one cell (metric `steps`), or any way through
// empty cells (metric `moves`).
#pragma once

#include <cstdint>
#include <vector>

#include <tandem/puzzle.hpp>

#include "klotski_board.hpp"
#include "metric.hpp"

namespace puzzles {

/// A puzzle as <tandem/puzzle.hpp> wants it.
class klotski_puzzle {
 public:
  using position = std::uint64_t;
  using move = klotski_move;

  explicit klotski_puzzle(const klotski_board& start, metric counted = metric::steps);

  position initial() const { return start_; }
  bool is_goal(position at) const noexcept;
  std::vector<move> legal_moves(position at) const;
  position apply(position at, move by) const noexcept;

  move inverse(position, move by) const noexcept { return move(by.to, by.from); }
  position pack(position at) const noexcept { return at; }
  position unpack(position at) const noexcept { return at; }
  /// Every arrangement of the other pieces with the block at the bottom centre.
  ///
  /// @throws              std::invalid_argument: there are more than `most_goals`
  std::vector<position> goals() const;
  static constexpr std::size_t most_goals = 4'000'000;

  /// With up to three empty cells the block goes one cell at a time, and then the empty ones are
  /// behind it: before it can come nearer again, another piece has to move. So twice the block's
  /// distance, less one if it can come nearer at once. With more, at most what two moves can show,
  /// or (steps) the distance.
  tandem::search_cost heuristic(position at) const noexcept;

 private:
  void add_steps(position at, unsigned cell, std::vector<move>& moves) const;
  void add_ways(position at, unsigned cell, std::vector<move>& moves) const;

  position start_;
  metric metric_;
  bool is_tight_;  // at most three cells are empty
};

/// The unit steps of a move, on a shortest way through empty cells.
std::vector<direction> klotski_route(std::uint64_t at, klotski_move move);

}  // namespace puzzles
