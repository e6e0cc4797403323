// sudoku_grid.cpp: reading, checking and drawing Sudoku grids.
// SPDX-License-Identifier: MIT
#include "sudoku_grid.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "kinds.hpp"

namespace puzzles {

namespace {

/// Reads a number and takes it from the front of `text`; 0 if there is none.
unsigned take_number(std::string_view& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

/// 1 and above; 0 for an empty cell, -1 for anything else.
int number_of(char c) {
  if (c == '.') return 0;
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  return -1;
}

char letter_of(int digit) {
  return static_cast<char>(digit < 0 ? '.' : digit < 9 ? '1' + digit : 'A' + digit - 9);
}

}  // namespace

sudoku_box sudoku_box::parse(std::string_view text) {
  std::string_view rest = text;
  sudoku_box box;
  box.rows = take_number(rest);
  const bool has_x = take(rest, 'x');
  box.cols = take_number(rest);
  if (!has_x || !rest.empty() || box.rows == 0 || box.cols == 0) {
    throw std::invalid_argument(
        fmt::format("box: {} is no size such as 3x3, rows x columns", in_quotes(text)));
  }
  constexpr unsigned most = sudoku_grid::max_side;
  if (box.rows > most || box.cols > most || box.side() > most) {
    throw std::invalid_argument(fmt::format("box: {} cells in a box, {} are possible at most",
                                            std::uint64_t{box.rows} * box.cols, most));
  }
  return box;
}

sudoku_grid::sudoku_grid(sudoku_box box) : box_(box), digits_(box.side() * box.side(), -1) {}

sudoku_grid sudoku_grid::parse(std::string_view text, sudoku_box box) {
  sudoku_grid grid(box);
  const unsigned side = box.side();
  if (text.size() != grid.digits_.size()) {
    throw std::invalid_argument(
        fmt::format("grid: {} cells given, {} are needed for boxes of {}x{}", text.size(),
                    grid.digits_.size(), box.rows, box.cols));
  }
  // By row, column and box, and digit: 1 + the cell that has it.
  std::vector<unsigned> holders(std::size_t{3} * side * side);
  for (unsigned cell = 0; cell < text.size(); ++cell) {
    const unsigned row = cell / side;
    const unsigned col = cell % side;
    const int number = number_of(text[cell]);
    if (number < 0 || number > static_cast<int>(side)) {
      throw std::invalid_argument(fmt::format("grid: {} in r{}c{} is neither empty nor in 1..{}",
                                              in_quotes(text.substr(cell, 1)), row + 1, col + 1,
                                              letter_of(static_cast<int>(side) - 1)));
    }
    if (number == 0) continue;
    const auto digit = static_cast<unsigned>(number - 1);
    const unsigned units[] = {row, side + col, 2 * side + box.box_of(row, col)};
    for (const unsigned unit : units) {
      unsigned& holder = holders[unit * side + digit];
      if (holder != 0) {
        constexpr const char* names[] = {"row", "column", "box"};
        throw std::invalid_argument(
            fmt::format("grid: impossible, {} is twice in a {}: r{}c{} and r{}c{}",
                        letter_of(number - 1), names[unit / side], (holder - 1) / side + 1,
                        (holder - 1) % side + 1, row + 1, col + 1));
      }
      holder = cell + 1;
    }
    grid.digits_[cell] = static_cast<std::int8_t>(digit);
  }
  return grid;
}

std::vector<sudoku_fill> sudoku_grid::givens() const {
  std::vector<sudoku_fill> found;
  for (unsigned cell = 0; cell < digits_.size(); ++cell) {
    if (digits_[cell] >= 0) found.emplace_back(cell, static_cast<unsigned>(digits_[cell]));
  }
  return found;
}

std::string sudoku_grid::describe(sudoku_fill fill) const {
  return fmt::format("r{}c{}={}", fill.cell / side() + 1, fill.cell % side() + 1,
                     letter_of(fill.digit));
}

sudoku_fill sudoku_grid::parse_move(std::string_view text) const {
  bool is_fill = take(text, 'r');
  const unsigned row = take_number(text);
  is_fill = take(text, 'c') && is_fill;
  const unsigned col = take_number(text);
  is_fill = take(text, '=') && is_fill && text.size() == 1;
  const int number = is_fill ? number_of(text[0]) : 0;
  if (row == 0 || col == 0 || row > side() || col > side() || number < 1 ||
      number > static_cast<int>(side())) {
    throw std::invalid_argument("no cell and digit of this grid");
  }
  return sudoku_fill((row - 1) * side() + col - 1, static_cast<unsigned>(number - 1));
}

std::string sudoku_grid::draw() const {
  std::string text;
  for (unsigned row = 0; row < side(); ++row) {
    if (row > 0 && row % box_.rows == 0) text += '\n';
    for (unsigned col = 0; col < side(); ++col) {
      if (col > 0) text += col % box_.cols == 0 ? "  " : " ";
      text += letter_of(digits_[row * side() + col]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace puzzles
