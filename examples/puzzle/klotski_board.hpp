// klotski_board.hpp: a Klotski board with letters, as people write it: reading, moving, drawing.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace puzzles {

enum class direction : std::uint8_t { up, left, right, down };

inline constexpr std::array<direction, 4> all_directions{direction::up, direction::left,
                                                         direction::right, direction::down};

std::string_view to_string(direction way) noexcept;

/// The piece whose upper left cell is `from` goes until that cell is `to`.
class klotski_move {
 public:
  klotski_move() = default;
  klotski_move(unsigned here, unsigned there)
      : from(static_cast<std::uint8_t>(here)), to(static_cast<std::uint8_t>(there)) {}

  bool operator==(const klotski_move&) const = default;

  std::uint8_t from = 0;
  std::uint8_t to = 0;
};

/// A board, 4 wide and 5 high, with a letter per piece; '.' is empty.
class klotski_board {
 public:
  static constexpr unsigned width = 4;
  static constexpr unsigned height = 5;
  static constexpr unsigned cells = width * height;

  /// Reads five rows separated by newlines or '/'.
  ///
  /// @throws              std::invalid_argument: one line about rows, letters, shapes, or 2x2
  ///                      blocks
  static klotski_board parse(std::string_view text);
  /// Heng Dao Li Ma.
  static klotski_board classic();

  /// The position without letters: see klotski_shapes.hpp.
  std::uint64_t shapes() const;
  /// The piece and the unit steps of a move, on a shortest way: "A right down".
  std::string describe(klotski_move move) const;
  void apply(klotski_move move);
  /// The move that describe() has described, where the piece is now.
  ///
  /// @throws              std::invalid_argument: no piece, or no directions
  klotski_move parse_move(std::string_view text) const;
  std::string draw() const;

 private:
  std::array<char, cells> letters_{};
};

}  // namespace puzzles
