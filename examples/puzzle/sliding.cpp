// sliding.cpp: boards of sliding tiles: packing, checking, drawing.
// SPDX-License-Identifier: MIT
#include "sliding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace puzzles {

packed_tiles::packed_tiles(const std::vector<int>& tiles) : bits_(~std::uint64_t{0}) {
  for (unsigned cell = 0; cell < tiles.size(); ++cell) {
    bits_ &= ~(std::uint64_t{15} << (4 * cell));
    bits_ |= static_cast<std::uint64_t>(tiles[cell]) << (4 * cell);
  }
}

byte_tiles::byte_tiles(const std::vector<int>& tiles) {
  bytes_.reserve(tiles.size());
  for (const int tile : tiles) bytes_.push_back(static_cast<char>(tile));
}

std::vector<int> default_goal(unsigned rows, unsigned cols) {
  std::vector<int> goal(rows * cols);
  for (unsigned cell = 0; cell + 1 < goal.size(); ++cell) goal[cell] = static_cast<int>(cell) + 1;
  return goal;
}

namespace {

void check_board(std::string_view name, unsigned cells, const std::vector<int>& tiles) {
  if (tiles.size() != cells) {
    throw std::invalid_argument(
        fmt::format("{}: {} tiles given, the board has {} cells", name, tiles.size(), cells));
  }
  std::vector<bool> seen(cells);
  for (const int tile : tiles) {
    if (tile < 0 || static_cast<unsigned>(tile) >= cells) {
      throw std::invalid_argument(
          fmt::format("{}: tile {} is not in 0..{}", name, tile, cells - 1));
    }
    if (seen[static_cast<unsigned>(tile)]) {
      throw std::invalid_argument(fmt::format("{}: tile {} appears twice", name, tile));
    }
    seen[static_cast<unsigned>(tile)] = true;
  }
}

}  // namespace

void check_sliding(unsigned rows, unsigned cols, const std::vector<int>& start,
                   const std::vector<int>& goal) {
  constexpr unsigned most = byte_tiles::max_cells;
  if (rows == 0 || cols == 0 || rows > most || cols > most || rows * cols > most) {
    throw std::invalid_argument(fmt::format(
        "a board of {} x {} does not fit: 1 to {} cells are possible", rows, cols, most));
  }
  check_board("start", rows * cols, start);
  if (!goal.empty()) check_board("goal", rows * cols, goal);
}

std::string draw_sliding(unsigned rows, unsigned cols, const std::vector<int>& tiles) {
  const std::size_t width = fmt::formatted_size("{}", rows * cols - 1);
  std::string text;
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned col = 0; col < cols; ++col) {
      const int tile = tiles[row * cols + col];
      text += fmt::format("{}{:>{}}", col == 0 ? "" : " ", tile == 0 ? "." : std::to_string(tile),
                          width);
    }
    text += '\n';
  }
  return text;
}

}  // namespace puzzles
