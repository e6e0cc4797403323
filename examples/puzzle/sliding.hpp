// sliding.hpp: sliding tiles on a board of any size.
// SPDX-License-Identifier: MIT
//
// Row-major, 0 is the blank; a move slides one tile into the blank. Boards of up to 16 cells are
// packed into 64 bits, four per tile, cell 0 lowest; larger ones (256 cells at most) are strings
// with a byte per tile. Both are one template, sliding_puzzle, over such a `tiles` type.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace puzzles {

/// Up to 16 tiles in 64 bits; what lies above the board's cells is kept at 15, never taken for a
/// blank.
class packed_tiles {
 public:
  static constexpr unsigned max_cells = 16;

  packed_tiles() = default;
  explicit packed_tiles(const std::vector<int>& tiles);

  int operator[](unsigned cell) const noexcept {
    return static_cast<int>(bits_ >> (4 * cell) & 15);
  }
  /// The lowest nibble that is 0, after Mycroft: exact for the lowest one, which is all we ask.
  unsigned blank() const noexcept {
    constexpr std::uint64_t ones = 0x1111111111111111U;
    return static_cast<unsigned>(std::countr_zero((bits_ - ones) & ~bits_ & (ones << 3))) / 4;
  }
  /// Moves the tile at `cell` into the blank at `blank`.
  void slide(unsigned cell, unsigned blank) noexcept {
    const std::uint64_t tile = bits_ >> (4 * cell) & 15;
    bits_ ^= tile << (4 * cell) | tile << (4 * blank);
  }

  std::uint64_t hash() const noexcept { return bits_; }
  bool operator==(const packed_tiles&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

/// Any number of tiles up to 256, one byte each.
class byte_tiles {
 public:
  static constexpr unsigned max_cells = 256;

  byte_tiles() = default;
  explicit byte_tiles(const std::vector<int>& tiles);

  int operator[](unsigned cell) const noexcept { return static_cast<unsigned char>(bytes_[cell]); }
  unsigned blank() const noexcept { return static_cast<unsigned>(bytes_.find('\0')); }
  void slide(unsigned cell, unsigned blank) noexcept { std::swap(bytes_[cell], bytes_[blank]); }

  std::uint64_t hash() const noexcept { return std::hash<std::string>{}(bytes_); }
  bool operator==(const byte_tiles&) const = default;

 private:
  std::string bytes_;
};

/// The cells whose tiles can slide into the blank.
class sliding_moves {
 public:
  void push_back(unsigned cell) noexcept { cells_[size_++] = static_cast<std::uint8_t>(cell); }
  const std::uint8_t* begin() const noexcept { return cells_.data(); }
  const std::uint8_t* end() const noexcept { return cells_.data() + size_; }

 private:
  std::array<std::uint8_t, 4> cells_{};
  unsigned size_ = 0;
};

/// A puzzle as <tandem/puzzle.hpp> wants it. A move is the cell whose tile slides into the blank.
template <class Tiles>
class sliding_puzzle {
 public:
  using position = Tiles;
  using move = std::uint8_t;

  /// Takes boards that check_sliding() has accepted.
  sliding_puzzle(unsigned rows, unsigned cols, const std::vector<int>& start,
                 const std::vector<int>& goal)
      : rows_(rows), cols_(cols), start_(start), goal_(goal) {}

  position initial() const { return start_; }
  bool is_goal(const position& at) const { return at == goal_; }
  std::uint64_t hash(const position& at) const noexcept { return at.hash(); }

  sliding_moves legal_moves(const position& at) const noexcept {
    const unsigned blank = at.blank();
    const unsigned row = blank / cols_;
    const unsigned col = blank - row * cols_;
    sliding_moves cells;
    if (row > 0) cells.push_back(blank - cols_);
    if (col > 0) cells.push_back(blank - 1);
    if (col + 1 < cols_) cells.push_back(blank + 1);
    if (row + 1 < rows_) cells.push_back(blank + cols_);
    return cells;
  }

  position apply(const position& at, move cell) const {
    position next = at;
    next.slide(cell, at.blank());
    return next;
  }

 private:
  unsigned rows_;
  unsigned cols_;
  position start_;
  position goal_;
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
