// rush_hour_board.hpp: a Rush Hour board as people write it: reading, moving, drawing.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace puzzles {

class rush_hour_move;

/// A car: a straight row of cells with one letter.
class rush_hour_car {
 public:
  char letter = '.';
  bool is_lying = false;
  unsigned row = 0;  // of its first cell
  unsigned col = 0;
  unsigned length = 0;

  /// Where it is on its line.
  unsigned place() const noexcept { return is_lying ? col : row; }
  void set_place(unsigned at) noexcept { (is_lying ? col : row) = at; }
};

class rush_hour_board {
 public:
  static constexpr unsigned side = 6;
  static constexpr unsigned cells = side * side;
  static constexpr unsigned most_cars = cells / 2;
  static constexpr unsigned red_row = 2;

  /// Reads 36 cells, or six rows separated by newlines or '/': 'o' or '.' empty, 'x' a wall, other
  /// letters cars.
  ///
  /// @throws              std::invalid_argument: one line about rows, characters, or cars
  static rush_hour_board parse(std::string_view text);

  /// In the order of their first cells.
  const std::vector<rush_hour_car>& cars() const noexcept { return cars_; }
  bool is_wall(unsigned cell) const noexcept { return walls_[cell]; }

  /// The car and the unit steps of a move: "A right right".
  std::string describe(rush_hour_move move) const;
  void apply(rush_hour_move move);
  /// The move that describe() has described, where the car is now.
  ///
  /// @throws              std::invalid_argument: no car, or no directions along its line
  rush_hour_move parse_move(std::string_view text) const;
  std::string draw() const;

 private:
  std::vector<rush_hour_car> cars_;
  std::array<bool, cells> walls_{};
};

}  // namespace puzzles
