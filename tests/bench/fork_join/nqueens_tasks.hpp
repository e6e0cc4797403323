// nqueens_tasks.hpp: nqueens as tandem tasks.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <numeric>

#include "nqueens.hpp"
#include "suite.hpp"

namespace tandem::bench::nqueens {

/// The safe squares of a row, as columns.
struct squares {
  board columns;
  std::size_t count = 0;
};

/// A plain function, so that its loops run on registers and on the stack: a coroutine's variables
/// are in its frame, and a store through a char may change any of them.
inline squares safe_squares(int row, board queens) {
  squares safe;
  for (int column = 0; column < n; ++column) {
    place(queens, row, column);
    if (is_safe(queens, row + 1)) safe.columns[safe.count++] = static_cast<signed char>(column);
  }
  return safe;
}

template <class Counter = no_counter>
task<int> forked(int row, board queens) {
  Counter::started();
  if (row == n) co_return 1;
  const squares safe = safe_squares(row, queens);
  const auto found = co_await fork_each(safe.count, [&](std::size_t i) {
    place(queens, row, safe.columns[i]);
    return forked<Counter>(row + 1, queens);
  });
  co_return std::accumulate(found.begin(), found.end(), 0);
}

}  // namespace tandem::bench::nqueens
