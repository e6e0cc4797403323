// klotski_board.cpp: reading, checking and drawing Klotski boards.
// SPDX-License-Identifier: MIT
#include "klotski_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "klotski.hpp"
#include "klotski_shapes.hpp"

namespace puzzles {

using namespace klotski;

namespace {

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

std::string klotski_board::describe(klotski_move move) const {
  std::string text(1, letters_[move.from]);
  for (const direction way : klotski_route(shapes(), move)) {
    text += ' ';
    text += to_string(way);
  }
  return text;
}

void klotski_board::apply(klotski_move move) {
  const char letter = letters_[move.from];
  const shape& piece = shapes_by_code[code_at(shapes(), move.from)];
  std::replace(letters_.begin(), letters_.end(), letter, '.');
  for (unsigned row = 0; row < piece.height; ++row) {
    for (unsigned col = 0; col < piece.width; ++col) {
      letters_[move.to + row * width + col] = letter;
    }
  }
}

klotski_move klotski_board::parse_move(std::string_view text) const {
  const auto first = std::find(letters_.begin(), letters_.end(), text.empty() ? '.' : text[0]);
  const auto from = static_cast<unsigned>(first - letters_.begin());
  unsigned to = from;
  bool is_move = first != letters_.end() && text.size() > 2;
  for (text.remove_prefix(std::min<std::size_t>(1, text.size())); is_move && !text.empty();) {
    const auto way = std::find_if(
        all_directions.begin(), all_directions.end(),
        [&](direction each) { return text.substr(1, text.find(' ', 1) - 1) == to_string(each); });
    is_move = way != all_directions.end();
    if (!is_move) break;
    to = neighbour(to, *way);
    text.remove_prefix(1 + to_string(*way).size());
  }
  if (!is_move || to >= cells) throw std::invalid_argument("no move of this board");
  return klotski_move(from, to);
}

std::string klotski_board::draw() const {
  std::string text;
  for (unsigned cell = 0; cell < cells; ++cell) {
    text += letters_[cell];
    if (cell % width == width - 1) text += '\n';
  }
  return text;
}

}  // namespace puzzles
