// rush_hour_board.cpp: reading, checking and drawing Rush Hour boards.
// SPDX-License-Identifier: MIT
#include "rush_hour_board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "rush_hour.hpp"

namespace puzzles {

namespace {

constexpr unsigned side = rush_hour_board::side;

bool is_car(char c) noexcept {
  return ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) && c != 'o' && c != 'x';
}

/// The cells without what separates the rows.
std::string cells_of(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::string cells;
  unsigned row = 1;
  std::size_t row_began = 0;
  const auto end_row = [&] {
    if (cells.size() - row_began != side) {
      throw std::invalid_argument(fmt::format("board: row {} has {} cells, {} are needed", row,
                                              cells.size() - row_began, side));
    }
    ++row;
    row_began = cells.size();
  };
  for (const char c : text) {
    if (c == '\r') continue;
    if (c == '/' || c == '\n') {
      end_row();
    } else if (is_car(c) || c == 'o' || c == 'x' || c == '.') {
      cells += c;
    } else {
      const bool is_printable = c > ' ' && c < 127;
      throw std::invalid_argument(
          fmt::format("board: {} in cell {} is no car, no wall (x) and not empty (o or .)",
                      is_printable ? fmt::format("'{}'", c)
                                   : fmt::format("byte {}", static_cast<unsigned char>(c)),
                      cells.size() + 1));
    }
  }
  if (row > 1) {
    end_row();
    if (row - 1 != side) {
      throw std::invalid_argument(
          fmt::format("board: {} rows given, {} are needed", row - 1, side));
    }
  }
  if (cells.size() != rush_hour_board::cells) {
    throw std::invalid_argument(
        fmt::format("board: {} cells given, {} are needed", cells.size(), rush_hour_board::cells));
  }
  return cells;
}

rush_hour_car car_at(const std::string& cells, std::size_t first) {
  rush_hour_car car;
  car.letter = cells[first];
  car.row = static_cast<unsigned>(first) / side;
  car.col = static_cast<unsigned>(first) % side;
  const auto total = static_cast<unsigned>(std::count(cells.begin(), cells.end(), car.letter));
  if (total == 1) {
    throw std::invalid_argument(
        fmt::format("board: car '{}' has one cell, two at least are needed", car.letter));
  }
  const auto run = [&](std::size_t stride, unsigned room) {
    unsigned length = 1;
    while (length < room && cells[first + length * stride] == car.letter) ++length;
    return length;
  };
  const unsigned across = run(1, side - car.col);
  const unsigned down = run(side, side - car.row);
  car.is_lying = across > 1;
  car.length = std::max(across, down);
  if (car.length != total) {
    throw std::invalid_argument(
        fmt::format("board: car '{}' is no straight row of cells", car.letter));
  }
  return car;
}

}  // namespace

rush_hour_board rush_hour_board::parse(std::string_view text) {
  const std::string letters = cells_of(text);
  rush_hour_board board;
  std::string done;
  for (std::size_t cell = 0; cell < letters.size(); ++cell) {
    const char letter = letters[cell];
    board.walls_[cell] = letter == 'x';
    if (!is_car(letter) || done.find(letter) != std::string::npos) continue;
    done += letter;
    board.cars_.push_back(car_at(letters, cell));
  }
  const auto red = std::find_if(board.cars_.begin(), board.cars_.end(),
                                [](const rush_hour_car& each) { return each.letter == 'A'; });
  if (red == board.cars_.end()) throw std::invalid_argument("board: the red car, A, is missing");
  if (!red->is_lying || red->row != red_row) {
    throw std::invalid_argument("board: the red car, A, does not lie in the third row");
  }
  return board;
}

std::string rush_hour_board::describe(rush_hour_move move) const {
  const rush_hour_car& car = cars_[move.car];
  const bool ahead = move.to > move.from;
  const char* way = car.is_lying ? (ahead ? "right" : "left") : (ahead ? "down" : "up");
  std::string text(1, car.letter);
  for (int step = std::abs(move.to - move.from); step > 0; --step) {
    text += ' ';
    text += way;
  }
  return text;
}

void rush_hour_board::apply(rush_hour_move move) { cars_[move.car].set_place(move.to); }

rush_hour_move rush_hour_board::parse_move(std::string_view text) const {
  const auto named = std::find_if(cars_.begin(), cars_.end(), [&](const rush_hour_car& each) {
    return !text.empty() && each.letter == text[0];
  });
  bool is_move = named != cars_.end() && text.size() > 2;
  int by = 0;
  for (text.remove_prefix(std::min<std::size_t>(1, text.size())); is_move && !text.empty();) {
    const std::string_view word = text.substr(1, text.find(' ', 1) - 1);
    const bool back = word == (named->is_lying ? "left" : "up");
    is_move = text[0] == ' ' && (back || word == (named->is_lying ? "right" : "down"));
    by += back ? -1 : 1;
    text.remove_prefix(std::min(text.size(), 1 + word.size()));
  }
  const int to = is_move ? static_cast<int>(named->place()) + by : -1;
  if (to < 0 || static_cast<unsigned>(to) + named->length > side) {
    throw std::invalid_argument("no move of this board");
  }
  return rush_hour_move(static_cast<unsigned>(named - cars_.begin()), named->place(),
                        static_cast<unsigned>(to));
}

std::string rush_hour_board::draw() const {
  std::array<std::string, side> rows;
  for (unsigned cell = 0; cell < cells; ++cell) {
    rows[cell / side] += walls_[cell] ? 'x' : '.';
  }
  for (const rush_hour_car& car : cars_) {
    for (unsigned i = 0; i < car.length; ++i) {
      rows[car.row + (car.is_lying ? 0 : i)][car.col + (car.is_lying ? i : 0)] = car.letter;
    }
  }
  std::string text;
  for (const std::string& row : rows) {
    text += row;
    text += '\n';
  }
  return text;
}

}  // namespace puzzles
