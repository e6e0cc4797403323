// nqueens.hpp: the problem nqueens 13: all ways to place 13 queens, row by row.
// SPDX-License-Identifier: MIT
//
// An irregular tree: a node is a board on which the first rows are filled, copied to each child;
// its children are the safe squares of the next row. No bit tricks: the node's work is to be a few
// hundred instructions, as in real searches.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "../bench.hpp"

namespace tandem::bench::nqueens {

constexpr const char* name = "nqueens_13";
constexpr const char* input = "n=13, every safe placement a task";
constexpr int n = 13;
constexpr int result = 73'712;
constexpr long nodes = 4'674'890;
constexpr int warm_up_rows = 3;

/// The column of the queen in each filled row.
using board = std::array<signed char, n>;

/// Whether the queen of the last of the first `rows` rows is attacked by none above. Looks at all
/// of them whatever it finds, so that the branch predictor does not decide the figure.
inline bool is_safe(const board& queens, int rows) {
  const int last = rows - 1;
  const int column = queens[static_cast<std::size_t>(last)];
  bool safe = true;
  for (int row = 0; row < last; ++row) {
    const int other = queens[static_cast<std::size_t>(row)];
    const int distance = last - row;
    safe &= other != column && other != column - distance && other != column + distance;
  }
  return safe;
}

inline void place(board& queens, int row, int column) {
  queens[static_cast<std::size_t>(row)] = static_cast<signed char>(column);
}

/// The safe squares of a row, as columns.
struct squares {
  board columns;
  std::size_t count = 0;
};

/// With the number of rows above known to the compiler, which unrolls the loop over them: g++ makes
/// such copies of a plain recursion by itself, of a coroutine no compiler does. So all programs of
/// this problem look at a row by this.
template <int Row>
squares safe_squares_of(board queens) {
  squares safe;
  for (int column = 0; column < n; ++column) {
    place(queens, Row, column);
    safe.columns[safe.count] = static_cast<signed char>(column);
    if (is_safe(queens, Row + 1)) ++safe.count;
  }
  return safe;
}
template <int... Row>
squares safe_squares_by(int row, const board& queens, std::integer_sequence<int, Row...>) {
  static constexpr std::array<squares (*)(board), n> of_row{&safe_squares_of<Row>...};
  return of_row[static_cast<std::size_t>(row)](queens);
}
inline squares safe_squares(int row, const board& queens) {
  return safe_squares_by(row, queens, std::make_integer_sequence<int, n>());
}

/// The number of ways to fill the board from `row` on.
[[gnu::noinline]] inline int serial(int row, board queens) {
  if (row == n) return 1;
  const squares safe = safe_squares(row, queens);
  int ways = 0;
  for (std::size_t i = 0; i < safe.count; ++i) {
    place(queens, row, safe.columns[i]);
    ways += serial(row + 1, queens);
  }
  return ways;
}

/// One sample: `compute(row, board)` gives the number of ways. The warm-up begins below three
/// queens.
template <class Compute>
double sample(Compute&& compute) {
  board corner{};
  place(corner, 0, 0);
  place(corner, 1, 2);
  place(corner, 2, 4);
  (void)compute(warm_up_rows, corner);
  int got = 0;
  const double taken = nanoseconds_per(nodes, [&] { got = compute(0, board{}); });
  expect_equal(got, result, "nqueens 13");
  return taken;
}

}  // namespace tandem::bench::nqueens
