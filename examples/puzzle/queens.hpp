// queens.hpp: n queens on an n x n board, none attacking another.
// SPDX-License-Identifier: MIT
//
// Row by row: a move is the column of the queen in the next row, so the positions form a tree and a
// goal is reached by one sequence of moves only. Attacked columns and diagonals are bit sets.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace puzzles {

/// The first rows of a board.
class queens_position {
 public:
  static constexpr unsigned max_n = 32;

  queens_position place(unsigned column) const noexcept {
    queens_position next = *this;
    const std::uint32_t bit = std::uint32_t{1} << column;
    next.columns_ |= bit;
    next.falling_ = (next.falling_ | bit) << 1;
    next.rising_ = (next.rising_ | bit) >> 1;
    next.queens_[next.row_++] = static_cast<std::uint8_t>(column);
    return next;
  }

  unsigned row() const noexcept { return row_; }
  std::uint32_t attacked() const noexcept { return columns_ | falling_ | rising_; }
  std::uint64_t hash() const noexcept {
    std::uint64_t sum = row_;
    for (unsigned i = 0; i < row_; ++i) sum = sum * 0x9e3779b97f4a7c15U + queens_[i];
    return sum;
  }
  bool operator==(const queens_position&) const = default;

 private:
  std::uint32_t columns_ = 0;
  std::uint32_t falling_ = 0;  // diagonals, where they meet the next row
  std::uint32_t rising_ = 0;
  std::uint32_t row_ = 0;
  std::array<std::uint8_t, max_n> queens_{};
};

/// A set of columns, lowest first.
class column_set {
 public:
  class iterator;

  explicit column_set(std::uint32_t columns) noexcept : columns_(columns) {}
  iterator begin() const noexcept;
  iterator end() const noexcept;

 private:
  std::uint32_t columns_;
};

class column_set::iterator {
 public:
  using value_type = unsigned;
  using difference_type = int;

  iterator() = default;
  explicit iterator(std::uint32_t left) noexcept : left_(left) {}
  unsigned operator*() const noexcept { return static_cast<unsigned>(std::countr_zero(left_)); }
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
  std::uint32_t left_ = 0;
};

inline column_set::iterator column_set::begin() const noexcept { return iterator(columns_); }
inline column_set::iterator column_set::end() const noexcept { return iterator(0); }

/// A puzzle as <tandem/puzzle.hpp> wants it.
class queens_puzzle {
 public:
  using position = queens_position;
  using move = unsigned;

  /// @throws              std::invalid_argument: n is 0 or above 32
  explicit queens_puzzle(unsigned n);

  position initial() const noexcept { return {}; }
  bool is_goal(const position& at) const noexcept { return at.row() == n_; }
  std::uint64_t hash(const position& at) const noexcept { return at.hash(); }
  column_set legal_moves(const position& at) const noexcept {
    return column_set(at.row() < n_ ? ~at.attacked() & board_ : 0);
  }
  position apply(const position& at, unsigned column) const noexcept { return at.place(column); }

 private:
  unsigned n_;
  std::uint32_t board_;  // a bit per column
};

/// A board as text, a row per line.
std::string draw_queens(unsigned n, const std::vector<int>& columns);

}  // namespace puzzles
