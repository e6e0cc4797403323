// sudoku.hpp: Sudoku with boxes of any size, up to a side of 25.
// SPDX-License-Identifier: MIT
//
// A position is what is left to be done: which cells are empty, and which digits each row, column
// and box still misses. Two grids that leave the same to be done are the same position. A move
// fills the empty cell of fewest candidates, and then all cells that have only one left, again and
// again: so each position has two candidates at least in the cell where it branches, and a
// completion is reached by one sequence of moves only.
//
// Digits that are not in the grid yet can be exchanged: of these only the lowest is a candidate,
// and each completion that is found stands for exchanges() many. So the 28,200,960 grids of 6 x 6
// are 39,168 that are searched, 720 times.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sudoku_grid.hpp"

namespace puzzles {

/// Digits for one cell, lowest first.
class sudoku_fills {
 public:
  class iterator;

  sudoku_fills(unsigned cell, std::uint32_t digits) noexcept : cell_(cell), digits_(digits) {}
  iterator begin() const noexcept;
  iterator end() const noexcept;

 private:
  unsigned cell_;
  std::uint32_t digits_;
};

class sudoku_fills::iterator {
 public:
  using value_type = sudoku_fill;
  using difference_type = int;

  iterator() = default;
  iterator(unsigned cell, std::uint32_t left) noexcept : cell_(cell), left_(left) {}
  sudoku_fill operator*() const noexcept {
    return sudoku_fill(cell_, static_cast<unsigned>(std::countr_zero(left_)));
  }
  iterator& operator++() noexcept {
    left_ &= left_ - 1;
    return *this;
  }
  iterator operator++(int) noexcept {
    iterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const iterator&) const = default;

 private:
  unsigned cell_ = 0;
  std::uint32_t left_ = 0;
};

inline auto sudoku_fills::begin() const noexcept -> iterator { return iterator(cell_, digits_); }
inline auto sudoku_fills::end() const noexcept -> iterator { return iterator(cell_, 0); }

/// What is left to be done in a grid of up to Side x Side cells.
template <unsigned Side>
class sudoku_position {
 public:
  using digits = std::conditional_t<Side <= 8, std::uint8_t,
                                    std::conditional_t<Side <= 16, std::uint16_t, std::uint32_t>>;
  static constexpr unsigned words = (Side * Side + 63) / 64;
  static constexpr std::uint16_t nowhere = 0xffff;

  bool operator==(const sudoku_position&) const = default;

  std::array<std::uint64_t, words> open{};  // a bit per cell: empty
  std::array<digits, 3 * Side> missing{};   // by row, column and box
  std::uint32_t used = 0;                   // digits that cannot be exchanged any more
  std::uint16_t branch = nowhere;           // the empty cell of fewest candidates
  bool is_dead = false;                     // an empty cell has none
};

/// A puzzle as <tandem/puzzle.hpp> wants it.
template <unsigned Side>
class sudoku_puzzle {
 public:
  using position = sudoku_position<Side>;
  using move = sudoku_fill;

  explicit sudoku_puzzle(const sudoku_grid& start);

  position initial() const {
    position at = start_;
    fill_forced(at, [](sudoku_fill) {});
    return at;
  }
  bool is_goal(const position& at) const noexcept {
    return at.branch == position::nowhere && !at.is_dead;
  }
  std::uint64_t hash(const position& at) const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : at.open) sum = (sum ^ word) * 0x9e3779b97f4a7c15U;
    for (const auto unit : at.missing) sum = (sum ^ unit) * 0x9e3779b97f4a7c15U;
    return sum ^ sum >> 32;
  }
  sudoku_fills legal_moves(const position& at) const noexcept {
    if (at.branch == position::nowhere || at.is_dead) return sudoku_fills(0, 0);
    return sudoku_fills(at.branch, candidates(at, at.branch));
  }
  position apply(const position& at, sudoku_fill by) const {
    position next = at;
    put(next, by);
    fill_forced(next, [](sudoku_fill) {});
    return next;
  }

  /// How many completions each goal stands for.
  std::uint64_t exchanges() const noexcept { return exchanges_; }

  /// Every cell that is filled along a path, in the order in which it is.
  std::vector<sudoku_fill> all_fills(const std::vector<sudoku_fill>& path) const {
    std::vector<sudoku_fill> fills;
    const auto note = [&](sudoku_fill fill) { fills.push_back(fill); };
    position at = start_;
    fill_forced(at, note);
    for (const sudoku_fill by : path) {
      note(by);
      put(at, by);
      fill_forced(at, note);
    }
    return fills;
  }

 private:
  class units {
   public:
    std::uint8_t row = 0;
    std::uint8_t col = 0;  // these two as indices of position::missing
    std::uint8_t box = 0;
  };

  std::uint32_t candidates(const position& at, unsigned cell) const noexcept {
    const units& in = units_[cell];
    const auto left =
        static_cast<std::uint32_t>(at.missing[in.row] & at.missing[in.col] & at.missing[in.box]);
    // The lowest digit that is not used is the lowest 0, which adding 1 sets.
    return left & (at.used | (at.used + 1));
  }

  void put(position& at, sudoku_fill fill) const noexcept {
    using digits = typename position::digits;
    const auto others = static_cast<digits>(~(std::uint32_t{1} << fill.digit));
    const units& in = units_[fill.cell];
    at.missing[in.row] &= others;
    at.missing[in.col] &= others;
    at.missing[in.box] &= others;
    at.open[fill.cell / 64] &= ~(std::uint64_t{1} << fill.cell % 64);
    at.used |= std::uint32_t{1} << fill.digit;
  }

  /// Fills cells of one candidate until there is none, then says where to branch.
  template <class Note>
  void fill_forced(position& at, Note note) const {
    bool has_filled = true;
    while (has_filled) {
      has_filled = false;
      at.branch = position::nowhere;
      int fewest = 64;
      for (unsigned word = 0; word < position::words; ++word) {
        for (std::uint64_t open = at.open[word]; open != 0; open &= open - 1) {
          const unsigned cell = 64 * word + static_cast<unsigned>(std::countr_zero(open));
          const std::uint32_t left = candidates(at, cell);
          const int count = std::popcount(left);
          if (count == 0) {
            at.is_dead = true;
            at.branch = static_cast<std::uint16_t>(cell);
            return;
          }
          if (count == 1) {
            const sudoku_fill forced(cell, static_cast<unsigned>(std::countr_zero(left)));
            note(forced);
            put(at, forced);
            has_filled = true;
          } else if (count < fewest) {
            fewest = count;
            at.branch = static_cast<std::uint16_t>(cell);
          }
        }
      }
    }
  }

  // 10!: enough to be worth it, and no count that can be reached overflows.
  static constexpr unsigned most_exchanged = 10;

  std::vector<units> units_;  // by cell
  position start_;            // with nothing filled but what is given
  std::uint64_t exchanges_ = 1;
};

// Implementation

template <unsigned Side>
sudoku_puzzle<Side>::sudoku_puzzle(const sudoku_grid& start) {
  const unsigned side = start.side();
  const auto all = static_cast<typename position::digits>((std::uint64_t{1} << side) - 1);
  std::fill(start_.missing.begin(), start_.missing.end(), all);
  for (unsigned cell = 0; cell < side * side; ++cell) {
    const unsigned row = cell / side;
    const unsigned col = cell % side;
    units in;
    in.row = static_cast<std::uint8_t>(row);
    in.col = static_cast<std::uint8_t>(Side + col);
    in.box = static_cast<std::uint8_t>(2 * Side + start.box().box_of(row, col));
    units_.push_back(in);
    start_.open[cell / 64] |= std::uint64_t{1} << cell % 64;
  }
  for (const sudoku_fill given : start.givens()) put(start_, given);
  unsigned exchanged = 0;
  for (unsigned digit = 0; digit < side; ++digit) {
    const std::uint32_t bit = std::uint32_t{1} << digit;
    if ((start_.used & bit) != 0) continue;
    if (exchanged == most_exchanged) {
      start_.used |= bit;
    } else {
      exchanges_ *= ++exchanged;
    }
  }
}

}  // namespace puzzles
