// sliding_estimate.hpp: how far a sliding board is from its goal at least.
// SPDX-License-Identifier: MIT
//
// Each tile has to go its Manhattan distance. Tiles that are already in their row or column of the
// goal, but in the wrong order, cannot pass each other: all but a longest ascending sequence of
// them have to leave the line and come back, which is two moves each (linear conflict; Hansson,
// Mayer, Yung 1992). Both together never exceed the way to the goal, and differ by one at most
// between neighbours.
//
// A slide takes its tile one step nearer or farther, and of all lines at most one changes its
// conflicts: the line of the tile's goal, if the tile leaves or enters it. So the change is a
// look-up by tile, cell and direction, which also names the line, and the conflicts of that line
// before and after. These are looked up by what the line holds:
//
//     boards up to 4 x 4    by the 4 to 16 bits of the packed tiles themselves
//     lines of 5 at most    by a number with a digit per cell: 0, or 1 + the place of its goal
//     longer lines          computed
#pragma once

#include <cstdint>
#include <vector>

#include "sliding_tiles.hpp"

namespace puzzles {

/// Tables for one goal.
///
/// @cost                up to 513 KB for a 4 x 4 board, built in less than a millisecond
class sliding_estimate {
 public:
  sliding_estimate(unsigned rows, unsigned cols, const std::vector<int>& goal);

  /// Computed anew.
  template <class Tiles>
  std::uint32_t of(const Tiles& tiles) const {
    std::uint32_t sum = 0;
    for (unsigned cell = 0; cell < cells_; ++cell) {
      sum += distances_[tiles[cell] * cells_ + cell];
    }
    for (unsigned which = 1; which < lines_.size(); ++which) sum += conflicts(tiles, which);
    return sum;
  }

  /// That of `after`, which one slide of `tile` from `cell` into the blank has made of `before`.
  template <class Tiles>
  std::uint32_t after_slide(std::uint32_t estimate, const Tiles& before, const Tiles& after,
                            unsigned tile, unsigned cell, unsigned blank) const {
    const change& by = changes_[(direction_of(cell, blank) * cells_ + cell) * cells_ + tile];
    return estimate + static_cast<std::uint32_t>(std::int32_t{by.distance}) +
           conflicts(after, by.line) - conflicts(before, by.line);
  }

 private:
  /// What a slide changes.
  class change {
   public:
    std::int16_t distance = 0;
    std::uint16_t line = 0;  // whose conflicts may change; 0 is none
  };

  /// A row or a column; number 0 is none, and holds nothing.
  class line {
   public:
    unsigned first = 0;
    unsigned stride = 0;
    unsigned length = 0;
    // Of a board that is looked up by its bits: ((bits >> shift & mask) * gather) >> 48 & mask16.
    unsigned shift = 0;
    std::uint64_t mask = 0;
    std::uint64_t gather = 0;
    std::uint64_t mask16 = 0;
    std::size_t table = 0;  // where its table begins in conflicts_
  };

  static unsigned direction_of(unsigned cell, unsigned blank) noexcept {
    const unsigned ahead = cell > blank ? 1 : 0;
    const unsigned distance = ahead != 0 ? cell - blank : blank - cell;
    return 2 * (distance == 1 ? 1 : 0) + ahead;
  }

  std::uint32_t conflicts(const packed_tiles& tiles, unsigned which) const {
    if (!by_bits_) return conflicts_by_cells(tiles, which);
    const line& in = lines_[which];
    const std::uint64_t held = (tiles.pack() >> in.shift & in.mask) * in.gather >> 48 & in.mask16;
    return conflicts_[in.table + held];
  }
  std::uint32_t conflicts(const byte_tiles& tiles, unsigned which) const {
    return conflicts_by_cells(tiles, which);
  }
  template <class Tiles>
  std::uint32_t conflicts_by_cells(const Tiles& tiles, unsigned which) const;

  void add_line(unsigned first, unsigned stride, unsigned length);
  void fill_changes();
  void fill_tables();

  unsigned rows_;
  unsigned cols_;
  unsigned cells_;
  bool by_bits_;
  std::vector<unsigned> goal_cells_;      // by tile
  std::vector<std::uint16_t> distances_;  // by tile and cell; the blank's are 0
  std::vector<change> changes_;           // by direction, cell and tile
  std::vector<line> lines_;
  std::vector<std::uint16_t> places_;  // by line and tile: 1 + the place of its goal there, or 0
  std::vector<std::uint8_t> conflicts_;
};

/// Whether tiles can be slid from `start` to `goal`: the parities of the permutation and of the
/// blank's way agree; on a board of one line, the tiles have the same order.
bool sliding_solvable(unsigned rows, unsigned cols, const std::vector<int>& start,
                      const std::vector<int>& goal);

}  // namespace puzzles
