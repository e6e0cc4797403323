// sliding_estimate.cpp: tables of Manhattan distances and linear conflicts.
// SPDX-License-Identifier: MIT
#include "sliding_estimate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

namespace puzzles {

namespace {

constexpr unsigned longest_table = 5;  // cells of a line that is looked up by its places

/// Two moves for each tile beside a longest ascending sequence of the places, 0 being none.
template <class Iterator>
std::uint32_t conflicts_of(Iterator begin, Iterator end) {
  std::array<std::uint16_t, byte_tiles::max_cells> lasts;  // least end of a sequence, by length - 1
  std::size_t longest = 0;
  std::uint32_t tiles = 0;
  for (; begin != end; ++begin) {
    if (*begin == 0) continue;
    ++tiles;
    const auto place = static_cast<std::uint16_t>(*begin);
    const auto at = std::lower_bound(lasts.begin(), lasts.begin() + longest, place);
    if (at == lasts.begin() + longest) ++longest;
    *at = place;
  }
  return 2 * (tiles - static_cast<std::uint32_t>(longest));
}

/// Conflicts by the number whose digits, to the base length + 1, are the places of a line.
std::vector<std::uint8_t> table_of(unsigned length) {
  std::size_t entries = 1;
  for (unsigned i = 0; i < length; ++i) entries *= length + 1;
  std::vector<std::uint8_t> table(entries);
  std::array<unsigned, longest_table> places{};
  for (std::size_t entry = 0; entry < entries; ++entry) {
    std::size_t rest = entry;
    for (unsigned i = length; i-- > 0; rest /= length + 1) {
      places[i] = static_cast<unsigned>(rest % (length + 1));
    }
    table[entry] = static_cast<std::uint8_t>(conflicts_of(places.begin(), places.begin() + length));
  }
  return table;
}

const std::vector<std::uint8_t>& shared_table(unsigned length) {
  static const std::array<std::vector<std::uint8_t>, longest_table + 1> tables{
      table_of(0), table_of(1), table_of(2), table_of(3), table_of(4), table_of(5)};
  return tables[length];
}

/// Whether the product that brings the cells of a column together keeps them apart: what lands below
/// the result must not reach it.
bool can_gather(unsigned rows, unsigned cols) {
  if (rows > 4 || cols > 4) return false;
  return cols == 1 || rows < 2 || 4 * (cols - 1) >= 4 * (rows - 1);
}

}  // namespace

sliding_estimate::sliding_estimate(unsigned rows, unsigned cols, const std::vector<int>& goal)
    : rows_(rows),
      cols_(cols),
      cells_(rows * cols),
      by_bits_(can_gather(rows, cols)),
      goal_cells_(cells_),
      distances_(std::size_t{cells_} * cells_),
      changes_(std::size_t{4} * cells_ * cells_) {
  for (unsigned cell = 0; cell < cells_; ++cell) {
    goal_cells_[static_cast<unsigned>(goal[cell])] = cell;
  }
  lines_.emplace_back();
  for (unsigned row = 0; row < rows_; ++row) add_line(row * cols_, 1, cols_);
  for (unsigned col = 0; col < cols_; ++col) add_line(col, cols_, rows_);
  places_.resize(lines_.size() * cells_);
  for (unsigned tile = 1; tile < cells_; ++tile) {
    const unsigned row = goal_cells_[tile] / cols_;
    const unsigned col = goal_cells_[tile] % cols_;
    places_[(1 + row) * cells_ + tile] = static_cast<std::uint16_t>(col + 1);
    places_[(1 + rows_ + col) * cells_ + tile] = static_cast<std::uint16_t>(row + 1);
  }
  fill_changes();
  if (by_bits_) fill_tables();
}

void sliding_estimate::add_line(unsigned first, unsigned stride, unsigned length) {
  line added;
  added.first = first;
  added.stride = stride;
  added.length = length;
  if (by_bits_) {
    added.shift = 4 * first;
    added.mask16 = (std::uint64_t{1} << (4 * length)) - 1;
    for (unsigned i = 0; i < length; ++i) {
      added.mask |= std::uint64_t{15} << (4 * stride * i);
      if (i == 0 || stride > 1) added.gather |= std::uint64_t{1} << (48 - 4 * (stride - 1) * i);
    }
  }
  lines_.push_back(added);
}

void sliding_estimate::fill_changes() {
  const auto distance = [&](unsigned tile, unsigned cell) {
    const unsigned goal = goal_cells_[tile];
    const auto apart = [](unsigned a, unsigned b) { return a > b ? a - b : b - a; };
    return apart(cell / cols_, goal / cols_) + apart(cell % cols_, goal % cols_);
  };
  for (unsigned tile = 1; tile < cells_; ++tile) {
    for (unsigned cell = 0; cell < cells_; ++cell) {
      distances_[tile * cells_ + cell] = static_cast<std::uint16_t>(distance(tile, cell));
    }
  }
  const auto fill = [&](unsigned cell, unsigned blank, bool sideways) {
    for (unsigned tile = 1; tile < cells_; ++tile) {
      change& by = changes_[(direction_of(cell, blank) * cells_ + cell) * cells_ + tile];
      by.distance = static_cast<std::int16_t>(static_cast<int>(distance(tile, blank)) -
                                              static_cast<int>(distance(tile, cell)));
      const unsigned goal = goal_cells_[tile];
      const auto line_of = [&](unsigned at) {
        return sideways ? 1 + rows_ + at % cols_ : 1 + at / cols_;
      };
      const bool matters = line_of(goal) == line_of(cell) || line_of(goal) == line_of(blank);
      by.line = static_cast<std::uint16_t>(matters ? line_of(goal) : 0);
    }
  };
  for (unsigned cell = 0; cell < cells_; ++cell) {
    if (cell % cols_ > 0) fill(cell, cell - 1, true);
    if (cell % cols_ + 1 < cols_) fill(cell, cell + 1, true);
    if (cell >= cols_) fill(cell, cell - cols_, false);
    if (cell + cols_ < cells_) fill(cell, cell + cols_, false);
  }
}

void sliding_estimate::fill_tables() {
  conflicts_.push_back(0);  // of line 0, which holds nothing
  for (unsigned which = 1; which < lines_.size(); ++which) {
    line& in = lines_[which];
    in.table = conflicts_.size();
    const std::vector<std::uint8_t>& table = shared_table(in.length);
    // The number of a whole line is that of its upper two cells and that of its lower two.
    std::array<unsigned, 256> lower{};
    std::array<unsigned, 256> upper{};
    std::array<unsigned, 4> weights{};
    unsigned weight = 1;
    for (unsigned i = in.length; i-- > 0; weight *= in.length + 1) weights[i] = weight;
    const auto place = [&](unsigned tile) {
      return tile < cells_ ? unsigned{places_[which * cells_ + tile]} : 0;
    };
    for (unsigned two = 0; two < 256; ++two) {
      lower[two] = place(two & 15) * weights[0] + place(two >> 4) * weights[1];
      upper[two] = place(two & 15) * weights[2] + place(two >> 4) * weights[3];
    }
    for (unsigned held = 0; held <= in.mask16; ++held) {
      conflicts_.push_back(table[lower[held & 255] + upper[held >> 8]]);
    }
  }
}

template <class Tiles>
std::uint32_t sliding_estimate::conflicts_by_cells(const Tiles& tiles, unsigned which) const {
  if (which == 0) return 0;
  const line& in = lines_[which];
  const std::uint16_t* places = places_.data() + std::size_t{which} * cells_;
  if (in.length <= longest_table) {
    std::size_t number = 0;
    for (unsigned i = 0; i < in.length; ++i) {
      number = number * (in.length + 1) + places[tiles[in.first + i * in.stride]];
    }
    return shared_table(in.length)[number];
  }
  std::array<std::uint16_t, byte_tiles::max_cells> held;
  for (unsigned i = 0; i < in.length; ++i) held[i] = places[tiles[in.first + i * in.stride]];
  return conflicts_of(held.begin(), held.begin() + in.length);
}

template std::uint32_t sliding_estimate::conflicts_by_cells(const packed_tiles&, unsigned) const;
template std::uint32_t sliding_estimate::conflicts_by_cells(const byte_tiles&, unsigned) const;

bool sliding_solvable(unsigned rows, unsigned cols, const std::vector<int>& start,
                      const std::vector<int>& goal) {
  if (rows == 1 || cols == 1) {
    const auto without_blank = [](std::vector<int> tiles) {
      std::erase(tiles, 0);
      return tiles;
    };
    return without_blank(start) == without_blank(goal);
  }
  const unsigned cells = rows * cols;
  std::vector<unsigned> goal_cells(cells);
  for (unsigned cell = 0; cell < cells; ++cell) {
    goal_cells[static_cast<unsigned>(goal[cell])] = cell;
  }
  // The blank's swaps are what moves are: as many as its way is long, give or take two at a time.
  const auto blank =
      static_cast<unsigned>(std::find(start.begin(), start.end(), 0) - start.begin());
  const unsigned home = goal_cells[0];
  bool odd = (blank / cols + blank % cols + home / cols + home % cols) % 2 != 0;
  std::vector<bool> done(cells);
  for (unsigned cell = 0; cell < cells; ++cell) {
    // A cycle of n cells is n - 1 swaps.
    for (unsigned at = cell; !done[at];) {
      done[at] = true;
      at = goal_cells[static_cast<unsigned>(start[at])];
      if (at != cell) odd = !odd;
    }
  }
  return !odd;
}

}  // namespace puzzles
