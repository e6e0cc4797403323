// klotski_shapes.hpp: the cells of a Klotski position, 3 bits each, and the shapes made of them.
// SPDX-License-Identifier: MIT
//
// Cell 0 (top left) is lowest:
//
//     0 empty   1 single   2 3 upright pair, upper and lower   4 5 lying pair, left and right
//     6 the 2x2 block, its upper left cell   7 its other cells
//
// A mask has the lowest of the three bits of each cell.
#pragma once

#include <array>
#include <cstdint>

#include "klotski_board.hpp"

namespace puzzles::klotski {

inline constexpr unsigned bits = 3;  // of a cell
inline constexpr unsigned row_bits = bits * klotski_board::width;
inline constexpr std::uint64_t low_bits =
    01111'1111'1111'1111'1111;  // the lowest bit of each of 20 cells

/// A shape with its upper left cell at cell 0.
class shape {
 public:
  constexpr shape(unsigned w, unsigned h, std::uint64_t c) : width(w), height(h), codes(c) {}

  unsigned width;
  unsigned height;
  std::uint64_t codes;
};

constexpr std::uint64_t mask_of(std::uint64_t codes) {
  return (codes | codes >> 1 | codes >> 2) & low_bits;
}

// By the code of the upper left cell.
inline constexpr std::array<shape, 8> shapes_by_code{
    shape(0, 0, 0),
    shape(1, 1, 1),
    shape(1, 2, 2 | 3 << row_bits),
    shape(0, 0, 0),
    shape(2, 1, 4 | 5 << bits),
    shape(0, 0, 0),
    shape(2, 2, 6 | 7 << bits | 7 << row_bits | 7 << (row_bits + bits)),
    shape(0, 0, 0),
};

inline constexpr unsigned goal_cell = 3 * klotski_board::width + 1;

constexpr unsigned code_at(std::uint64_t at, unsigned cell) {
  return static_cast<unsigned>(at >> (bits * cell) & 7);
}

constexpr std::uint64_t shifted(std::uint64_t cells, direction way) {
  switch (way) {
    case direction::up: return cells >> row_bits;
    case direction::left: return cells >> bits;
    case direction::right: return cells << bits;
    case direction::down: return cells << row_bits;
  }
  return cells;
}

constexpr bool stays_inside(const shape& piece, unsigned cell, direction way) {
  const unsigned row = cell / klotski_board::width;
  const unsigned col = cell % klotski_board::width;
  switch (way) {
    case direction::up: return row > 0;
    case direction::left: return col > 0;
    case direction::right: return col + piece.width < klotski_board::width;
    case direction::down: return row + piece.height < klotski_board::height;
  }
  return false;
}

/// What is left of `cells` after the piece at `cell` is taken away.
constexpr std::uint64_t without(std::uint64_t cells, unsigned cell) {
  return cells ^ shapes_by_code[code_at(cells, cell)].codes << (bits * cell);
}

/// The mask of the empty cells.
constexpr std::uint64_t empty_cells(std::uint64_t cells) { return ~mask_of(cells) & low_bits; }

/// The cell next to `cell` that way.
constexpr unsigned neighbour(unsigned cell, direction way) {
  switch (way) {
    case direction::up: return cell - klotski_board::width;
    case direction::left: return cell - 1;
    case direction::right: return cell + 1;
    case direction::down: return cell + klotski_board::width;
  }
  return cell;
}

}  // namespace puzzles::klotski
