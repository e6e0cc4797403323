// nqueens_tasks.hpp: nqueens as tandem tasks.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <numeric>

#include "nqueens.hpp"
#include "suite.hpp"

namespace tandem::bench::nqueens {

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
