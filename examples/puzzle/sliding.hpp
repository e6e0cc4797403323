// sliding.hpp: sliding tiles on a board of any size.
// SPDX-License-Identifier: MIT
//
// A move slides one tile into the blank. A position carries its tiles, where the blank is and,
// unless the puzzle is unguided, the estimate of what is left, which each move brings up to date.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tandem/puzzle.hpp>

#include "sliding_estimate.hpp"
#include "sliding_tiles.hpp"

namespace puzzles {

/// The cells whose tiles can slide into the blank.
class sliding_moves {
 public:
  void push_back(unsigned cell) noexcept { cells_[size_++] = static_cast<std::uint8_t>(cell); }
  const std::uint8_t* begin() const noexcept { return cells_.data(); }
  const std::uint8_t* end() const noexcept { return cells_.data() + size_; }

 private:
  std::array<std::uint8_t, 4> cells_{};
  std::uint32_t size_ = 0;
};

/// Tiles, blank and estimate: 16 bytes for packed tiles. The tiles say it all, so == compares them.
template <class Tiles>
class sliding_position {
 public:
  bool operator==(const sliding_position& other) const { return tiles == other.tiles; }

  Tiles tiles;
  std::uint32_t blank = 0;
  tandem::search_cost estimate = 0;
};

/// Whether positions carry an estimate: what solvers need that ask for one, and what the others
/// would maintain for nothing.
enum class guidance : std::uint8_t { none, estimate };

/// A puzzle as <tandem/puzzle.hpp> wants it. A move is the cell whose tile slides into the blank.
template <class Tiles, guidance Guided = guidance::estimate>
class sliding_puzzle {
 public:
  using position = sliding_position<Tiles>;
  using move = std::uint8_t;

  /// Takes boards that check_sliding() has accepted.
  sliding_puzzle(unsigned rows, unsigned cols, const std::vector<int>& start,
                 const std::vector<int>& goal)
      : moves_(make_moves(rows, cols)), start_(start), goal_(goal) {
    if constexpr (Guided == guidance::estimate) {
      estimate_ = std::make_shared<const sliding_estimate>(rows, cols, goal);
      if (!sliding_solvable(rows, cols, start, goal)) base_ = tandem::unreachable;
    }
  }

  position initial() const { return at_tiles(start_); }
  bool is_goal(const position& at) const { return at.tiles == goal_; }
  std::uint64_t hash(const position& at) const noexcept { return at.tiles.hash(); }
  sliding_moves legal_moves(const position& at) const noexcept { return moves_[at.blank]; }

  position apply(const position& at, move cell) const {
    position next = at;
    next.tiles.slide(cell, at.blank);
    next.blank = cell;
    if constexpr (Guided == guidance::estimate) {
      next.estimate =
          estimate_->after_slide(at.estimate, at.tiles, next.tiles, at.tiles[cell], cell, at.blank);
    }
    return next;
  }

  move inverse(const position& at, move) const noexcept { return static_cast<move>(at.blank); }
  std::array<position, 1> goals() const { return {at_tiles(goal_)}; }
  typename Tiles::packed pack(const position& at) const { return at.tiles.pack(); }
  position unpack(typename Tiles::packed packed) const {
    return at_tiles(Tiles(std::move(packed)));
  }

  /// Manhattan distance and linear conflicts; `unreachable` or more if `start` cannot be solved.
  tandem::search_cost heuristic(const position& at) const noexcept
    requires(Guided == guidance::estimate)
  {
    return at.estimate;
  }

 private:
  static std::vector<sliding_moves> make_moves(unsigned rows, unsigned cols) {
    std::vector<sliding_moves> moves(rows * cols);
    for (unsigned blank = 0; blank < moves.size(); ++blank) {
      if (blank >= cols) moves[blank].push_back(blank - cols);
      if (blank % cols > 0) moves[blank].push_back(blank - 1);
      if (blank % cols + 1 < cols) moves[blank].push_back(blank + 1);
      if (blank + cols < moves.size()) moves[blank].push_back(blank + cols);
    }
    return moves;
  }

  position at_tiles(const Tiles& tiles) const {
    position at;
    at.tiles = tiles;
    at.blank = tiles.blank();
    if constexpr (Guided == guidance::estimate) at.estimate = base_ + estimate_->of(tiles);
    return at;
  }

  std::vector<sliding_moves> moves_;  // by the blank's cell
  Tiles start_;
  Tiles goal_;
  std::shared_ptr<const sliding_estimate> estimate_;
  tandem::search_cost base_ = 0;  // `unreachable` if the goal is
};

/// 1 2 .. n-1 0.
std::vector<int> default_goal(unsigned rows, unsigned cols);

/// Checks that the board may be so large and that `start` and `goal`, unless that is empty, hold
/// each tile from 0 to rows * cols - 1 once.
///
/// @throws              std::invalid_argument: one line that names board and tile
void check_sliding(unsigned rows, unsigned cols, const std::vector<int>& start,
                   const std::vector<int>& goal);

/// A board as text, a row per line.
std::string draw_sliding(unsigned rows, unsigned cols, const std::vector<int>& tiles);

}  // namespace puzzles
