// queens.cpp: checking and drawing for n queens.
// SPDX-License-Identifier: MIT
#include "queens.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace puzzles {

queens_puzzle::queens_puzzle(unsigned n) : n_(n), board_(0) {
  if (n == 0 || n > queens_position::max_n) {
    throw std::invalid_argument(
        fmt::format("queens: n is {}, 1 to {} are possible", n, queens_position::max_n));
  }
  board_ = ~std::uint32_t{0} >> (32 - n);
}

std::string draw_queens(unsigned n, const std::vector<int>& columns) {
  std::string text;
  for (unsigned row = 0; row < n; ++row) {
    std::string line(2 * n - 1, ' ');
    for (unsigned col = 0; col < n; ++col) line[2 * col] = '.';
    if (row < columns.size()) line[2 * static_cast<std::size_t>(columns[row])] = 'Q';
    text += line + '\n';
  }
  return text;
}

}  // namespace puzzles
