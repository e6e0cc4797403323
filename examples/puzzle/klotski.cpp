// klotski.cpp: Klotski in 60 bits.
// SPDX-License-Identifier: MIT
#include "klotski.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace puzzles {

namespace {

constexpr unsigned bits = 3;  // of a cell
constexpr unsigned row_bits = bits * klotski_board::width;
constexpr std::uint64_t low_bits = 01111'1111'1111'1111'1111;  // the lowest bit of each of 20 cells

/// A shape with its upper left cell at cell 0.
class shape {
 public:
  constexpr shape(unsigned w, unsigned h, std::uint64_t c) : width(w), height(h), codes(c) {}

  unsigned width;
  unsigned height;
  std::uint64_t codes;
};

constexpr std::uint64_t mask_of(std::uint64_t codes) {
  return (codes | codes >> 1 | codes >> 2) & low_bits;
}

// By the code of the upper left cell.
constexpr std::array<shape, 8> shapes_by_code{
    shape(0, 0, 0),
    shape(1, 1, 1),
    shape(1, 2, 2 | 3 << row_bits),
    shape(0, 0, 0),
    shape(2, 1, 4 | 5 << bits),
    shape(0, 0, 0),
    shape(2, 2, 6 | 7 << bits | 7 << row_bits | 7 << (row_bits + bits)),
    shape(0, 0, 0),
};

constexpr unsigned goal_cell = 3 * klotski_board::width + 1;

constexpr unsigned code_at(std::uint64_t at, unsigned cell) {
  return static_cast<unsigned>(at >> (bits * cell) & 7);
}

constexpr std::uint64_t shifted(std::uint64_t cells, direction way) {
  switch (way) {
    case direction::up: return cells >> row_bits;
    case direction::left: return cells >> bits;
    case direction::right: return cells << bits;
    case direction::down: return cells << row_bits;
  }
  return cells;
}

constexpr bool stays_inside(const shape& piece, unsigned cell, direction way) {
  const unsigned row = cell / klotski_board::width;
  const unsigned col = cell % klotski_board::width;
  switch (way) {
    case direction::up: return row > 0;
    case direction::left: return col > 0;
    case direction::right: return col + piece.width < klotski_board::width;
    case direction::down: return row + piece.height < klotski_board::height;
  }
  return false;
}

bool is_letter(char c) noexcept { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

std::vector<std::string_view> rows_of(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::vector<std::string_view> rows;
  for (;;) {
    const std::size_t end = text.find_first_of("/\n");
    std::string_view row = text.substr(0, end);
    if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
    rows.push_back(row);
    if (end == std::string_view::npos) return rows;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string_view to_string(direction way) noexcept {
  switch (way) {
    case direction::up: return "up";
    case direction::left: return "left";
    case direction::right: return "right";
    case direction::down: return "down";
  }
  return "";
}

klotski_board klotski_board::classic() { return parse("ABBC/ABBC/DEEF/DGHF/I..J"); }

klotski_board klotski_board::parse(std::string_view text) {
  const std::vector<std::string_view> rows = rows_of(text);
  if (rows.size() != height) {
    throw std::invalid_argument(
        fmt::format("board: {} rows given, {} are needed", rows.size(), height));
  }
  klotski_board board;
  for (unsigned row = 0; row < height; ++row) {
    for (const char c : rows[row]) {
      if (is_letter(c) || c == '.') continue;
      const bool is_printable = c > ' ' && c < 127;
      throw std::invalid_argument(
          fmt::format("board: {} in row {} is neither a letter nor '.'",
                      is_printable ? fmt::format("'{}'", c)
                                   : fmt::format("byte {}", static_cast<unsigned char>(c)),
                      row + 1));
    }
    if (rows[row].size() != width) {
      throw std::invalid_argument(fmt::format("board: row {} has {} cells, {} are needed", row + 1,
                                              rows[row].size(), width));
    }
    std::copy(rows[row].begin(), rows[row].end(), board.letters_.begin() + row * width);
  }
  (void)board.shapes();
  return board;
}

std::uint64_t klotski_board::shapes() const {
  std::uint64_t position = 0;
  unsigned blocks = 0;
  std::string done = ".";
  for (unsigned cell = 0; cell < cells; ++cell) {
    const char letter = letters_[cell];
    if (done.find(letter) != std::string::npos) continue;
    done += letter;
    // The first cell met is the upper left one, if the piece is a rectangle at all.
    const auto has = [&](unsigned other) { return other < cells && letters_[other] == letter; };
    const unsigned right = cell % width + 1 < width && has(cell + 1) ? 2 : 1;
    const unsigned down = has(cell + width) ? 2 : 1;
    const auto found = std::find_if(shapes_by_code.begin(), shapes_by_code.end(), [&](auto& each) {
      return each.width == right && each.height == down;
    });
    const std::uint64_t codes = found->codes << (bits * cell);
    std::uint64_t mask = 0;
    for (unsigned other = 0; other < cells; ++other) {
      if (has(other)) mask |= std::uint64_t{1} << (bits * other);
    }
    if (mask != mask_of(codes)) {
      throw std::invalid_argument(
          fmt::format("board: piece '{}' is broken: pieces are 1x1, 1x2, 2x1 or 2x2", letter));
    }
    if (right == 2 && down == 2) ++blocks;
    position |= codes;
  }
  if (blocks != 1) {
    throw std::invalid_argument(
        fmt::format("board: {} pieces are 2x2, exactly one is needed", blocks));
  }
  return position;
}

void klotski_board::apply(klotski_move move) {
  const char letter = letters_[move.cell];
  const unsigned code = code_at(shapes(), move.cell);
  const shape& piece = shapes_by_code[code];
  const int by = move.way == direction::up      ? -static_cast<int>(width)
                 : move.way == direction::left  ? -1
                 : move.way == direction::right ? 1
                                                : static_cast<int>(width);
  std::replace(letters_.begin(), letters_.end(), letter, '.');
  for (unsigned row = 0; row < piece.height; ++row) {
    for (unsigned col = 0; col < piece.width; ++col) {
      letters_[static_cast<unsigned>(static_cast<int>(move.cell + row * width + col) + by)] =
          letter;
    }
  }
}

klotski_move klotski_board::parse_step(std::string_view step) const {
  const auto first = std::find(letters_.begin(), letters_.end(), step.empty() ? '.' : step[0]);
  for (const direction way : {direction::up, direction::left, direction::right, direction::down}) {
    if (first == letters_.end() || step.size() < 2 || step.substr(2) != to_string(way)) continue;
    return klotski_move(static_cast<unsigned>(first - letters_.begin()), way);
  }
  throw std::invalid_argument(fmt::format("no step of this board: '{}'", step));
}

std::string klotski_board::draw() const {
  std::string text;
  for (unsigned cell = 0; cell < cells; ++cell) {
    text += letters_[cell];
    if (cell % width == width - 1) text += '\n';
  }
  return text;
}

bool klotski_puzzle::is_goal(position at) const noexcept { return code_at(at, goal_cell) == 6; }

auto klotski_puzzle::legal_moves(position at) const -> std::vector<move> {
  std::vector<move> moves;
  moves.reserve(8);
  const std::uint64_t taken = mask_of(at);
  for (unsigned cell = 0; cell < klotski_board::cells; ++cell) {
    const shape& piece = shapes_by_code[code_at(at, cell)];
    if (piece.width == 0) continue;
    const std::uint64_t mask = mask_of(piece.codes) << (bits * cell);
    for (const direction way :
         {direction::up, direction::left, direction::right, direction::down}) {
      if (!stays_inside(piece, cell, way)) continue;
      if ((shifted(mask, way) & ~mask & taken) == 0) moves.emplace_back(cell, way);
    }
  }
  return moves;
}

auto klotski_puzzle::apply(position at, move by) const noexcept -> position {
  const std::uint64_t codes = shapes_by_code[code_at(at, by.cell)].codes << (bits * by.cell);
  return (at ^ codes) | shifted(codes, by.way);
}

}  // namespace puzzles
