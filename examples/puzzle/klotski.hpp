// klotski.hpp: Klotski on the classic board, 4 wide and 5 high, such as Heng Dao Li Ma.
// SPDX-License-Identifier: MIT
//
// A position is 20 cells of 3 bits, cell 0 (top left) lowest:
//
//     0 empty   1 single   2 3 upright pair, upper and lower   4 5 lying pair, left and right
//     6 the 2x2 block, its upper left cell   7 its other cells
//
// It names shapes, not pieces: two positions that differ only by the exchange of equal shapes are
// the same number. A move is one piece by one cell, so a path counts unit steps. The block has to
// get to the bottom centre.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace puzzles {

enum class direction : std::uint8_t { up, left, right, down };

std::string_view to_string(direction way) noexcept;

/// The piece whose upper left cell is `cell` goes one cell that way.
class klotski_move {
 public:
  klotski_move() = default;
  klotski_move(unsigned from, direction to) : cell(static_cast<std::uint8_t>(from)), way(to) {}

  std::uint8_t cell = 0;
  direction way = direction::up;
};

/// A board with a letter per piece, as it is given; '.' is empty.
class klotski_board {
 public:
  static constexpr unsigned width = 4;
  static constexpr unsigned height = 5;
  static constexpr unsigned cells = width * height;

  /// Reads five rows separated by newlines or '/'.
  ///
  /// @throws              std::invalid_argument: one line about rows, letters, shapes, or 2x2
  ///                      blocks
  static klotski_board parse(std::string_view text);
  /// Heng Dao Li Ma.
  static klotski_board classic();

  char operator[](unsigned cell) const noexcept { return letters_[cell]; }
  /// The position without letters.
  std::uint64_t shapes() const;
  void apply(klotski_move move);
  /// The piece that a step such as "A down" names, where it is now.
  klotski_move parse_step(std::string_view step) const;
  std::string draw() const;

 private:
  std::array<char, cells> letters_{};
};

/// A puzzle as <tandem/puzzle.hpp> wants it.
class klotski_puzzle {
 public:
  using position = std::uint64_t;
  using move = klotski_move;

  explicit klotski_puzzle(const klotski_board& start) : start_(start.shapes()) {}

  position initial() const { return start_; }
  bool is_goal(position at) const noexcept;
  std::vector<move> legal_moves(position at) const;
  position apply(position at, move by) const noexcept;

 private:
  position start_;
};

}  // namespace puzzles
