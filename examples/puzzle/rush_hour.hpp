// rush_hour.hpp: Rush Hour: cars on a board of 6 x 6, each along its own line.
// SPDX-License-Identifier: MIT
//
// A position is the place of each car on its line, 3 bits per car: 18 cars at most, for each fills
// two cells at least, so 54 bits. It carries the mask of the taken cells beside them, a bit per
// cell, cell 0 (top left) lowest. The red car, A, has to get to the right end of the third row. A
// move is one car by one cell (metric `steps`), or as far as it can get (metric `moves`).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <tandem/puzzle.hpp>

#include "metric.hpp"
#include "rush_hour_board.hpp"

namespace puzzles {

/// The places say it all, so == compares them.
class rush_hour_position {
 public:
  bool operator==(const rush_hour_position& other) const noexcept { return places == other.places; }

  unsigned place(unsigned car) const noexcept {
    return static_cast<unsigned>(places >> (3 * car) & 7);
  }

  std::uint64_t places = 0;
  std::uint64_t taken = 0;
};

/// Car number `car` goes from one place of its line to another.
class rush_hour_move {
 public:
  rush_hour_move() = default;
  rush_hour_move(unsigned which, unsigned here, unsigned there)
      : car(static_cast<std::uint8_t>(which)),
        from(static_cast<std::uint8_t>(here)),
        to(static_cast<std::uint8_t>(there)) {}

  bool operator==(const rush_hour_move&) const = default;

  std::uint8_t car = 0;
  std::uint8_t from = 0;
  std::uint8_t to = 0;
};

class rush_hour_moves {
 public:
  void push_back(rush_hour_move by) noexcept { moves_[size_++] = by; }
  const rush_hour_move* begin() const noexcept { return moves_.data(); }
  const rush_hour_move* end() const noexcept { return moves_.data() + size_; }

 private:
  std::array<rush_hour_move, 4 * rush_hour_board::most_cars> moves_{};
  unsigned size_ = 0;
};

/// A puzzle as <tandem/puzzle.hpp> wants it.
class rush_hour_puzzle {
 public:
  using position = rush_hour_position;
  using move = rush_hour_move;

  explicit rush_hour_puzzle(const rush_hour_board& start, metric counted = metric::moves);

  position initial() const noexcept { return start_; }
  bool is_goal(const position& at) const noexcept { return at.place(red_) == exit_place_; }
  std::uint64_t hash(const position& at) const noexcept { return at.places; }
  rush_hour_moves legal_moves(const position& at) const noexcept;
  position apply(const position& at, move by) const noexcept;

  move inverse(const position&, move by) const noexcept { return move(by.car, by.to, by.from); }
  std::uint64_t pack(const position& at) const noexcept { return at.places; }
  position unpack(std::uint64_t places) const noexcept;
  /// Every arrangement with the red car at the exit, the cars of each line in their order.
  ///
  /// @throws              std::invalid_argument: there are more than `most_goals`
  std::vector<position> goals() const;
  static constexpr std::size_t most_goals = 4'000'000;

  /// The red car's way, and that of each car which it finds in its row: that has to leave the row.
  /// A car that cannot do so before others have moved adds one for these, if they are not counted
  /// already. (`moves`: one for each car instead of its way.)
  tandem::search_cost heuristic(const position& at) const noexcept;

 private:
  class car {
   public:
    unsigned first = 0;   // the cell of place 0
    unsigned stride = 0;  // between its places: 1 lying, 6 upright
    unsigned length = 0;
    unsigned last = 0;  // its last place
    // Places that walls and the other cars of its line leave to it.
    unsigned lowest = 0;
    unsigned highest = 0;
  };

  std::uint64_t cells_of(unsigned which, unsigned place) const noexcept {
    return masks_[which][place];
  }
  std::uint64_t swept(unsigned which, unsigned from, unsigned to) const noexcept;
  void bound_places(const rush_hour_board& board);
  tandem::search_cost cost_to_clear(const position& at, unsigned which,
                                    std::uint64_t& counted) const noexcept;
  void arrange(position at, unsigned which, std::vector<position>& found) const;

  std::vector<car> cars_;  // in the order of their first cells, so in order along each line
  std::vector<std::array<std::uint64_t, 8>> masks_;  // by car and place
  std::vector<int> before_;                          // by car: the one before it on its line, or -1
  std::uint64_t walls_ = 0;
  unsigned red_ = 0;
  unsigned exit_place_ = 0;
  metric metric_;
  position start_;
};

}  // namespace puzzles
