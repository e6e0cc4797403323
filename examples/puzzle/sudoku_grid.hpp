// sudoku_grid.hpp: a Sudoku grid as people write it: reading, checking, filling, drawing.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace puzzles {

/// Boxes of so many rows and columns; the side of the grid is their product.
class sudoku_box {
 public:
  sudoku_box() = default;
  sudoku_box(unsigned box_rows, unsigned box_cols) : rows(box_rows), cols(box_cols) {}

  /// Reads "RxC".
  ///
  /// @throws              std::invalid_argument: no such text, or a side of more than 25
  static sudoku_box parse(std::string_view text);

  unsigned side() const noexcept { return rows * cols; }
  unsigned box_of(unsigned row, unsigned col) const noexcept {
    return row / rows * rows + col / cols;
  }

  unsigned rows = 3;
  unsigned cols = 3;
};

/// A digit, from 0, in a cell.
class sudoku_fill {
 public:
  sudoku_fill() = default;
  sudoku_fill(unsigned where, unsigned what)
      : cell(static_cast<std::uint16_t>(where)), digit(static_cast<std::uint8_t>(what)) {}

  bool operator==(const sudoku_fill&) const = default;

  std::uint16_t cell = 0;
  std::uint8_t digit = 0;
};

/// Some cells filled, no digit twice in a row, a column or a box.
class sudoku_grid {
 public:
  static constexpr unsigned max_side = 25;

  /// Nothing filled.
  explicit sudoku_grid(sudoku_box box);
  /// Reads side * side characters, row by row: digits, letters for 10 and above, '.' or '0' empty.
  ///
  /// @throws              std::invalid_argument: one line about length, characters, or a digit that
  ///                      appears twice
  static sudoku_grid parse(std::string_view text, sudoku_box box);

  sudoku_box box() const noexcept { return box_; }
  unsigned side() const noexcept { return box_.side(); }
  /// The digits that are there.
  std::vector<sudoku_fill> givens() const;
  /// "r1c3=7", numbers from 1.
  std::string describe(sudoku_fill fill) const;
  void apply(sudoku_fill fill) { digits_[fill.cell] = static_cast<std::int8_t>(fill.digit); }
  /// What describe() has described.
  ///
  /// @throws              std::invalid_argument: it is something else
  sudoku_fill parse_move(std::string_view text) const;
  std::string draw() const;

 private:
  sudoku_box box_;
  std::vector<std::int8_t> digits_;  // by cell; -1 is empty
};

}  // namespace puzzles
