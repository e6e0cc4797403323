// klotski.cpp: Klotski in 60 bits.
// SPDX-License-Identifier: MIT
#include "klotski.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "klotski_shapes.hpp"

namespace puzzles {

using namespace klotski;

namespace {

constexpr unsigned cells = klotski_board::cells;
constexpr std::uint64_t block = shapes_by_code[6].codes;

unsigned block_cell(std::uint64_t at) {
  // Only the block's upper left cell holds 110.
  const std::uint64_t found = at >> 2 & at >> 1 & ~at & low_bits;
  return static_cast<unsigned>(std::countr_zero(found)) / bits;
}

bool has_room(std::uint64_t taken, const shape& piece, unsigned cell, direction way) {
  if (!stays_inside(piece, cell, way)) return false;
  const std::uint64_t mask = mask_of(piece.codes) << (bits * cell);
  return (shifted(mask, way) & taken) == 0;
}

unsigned distance_to_goal(unsigned cell) {
  const auto apart = [](unsigned a, unsigned b) { return a > b ? a - b : b - a; };
  constexpr unsigned width = klotski_board::width;
  return apart(cell / width, goal_cell / width) + apart(cell % width, goal_cell % width);
}

/// The cells that a piece can get to, in the order of how far they are; `came` says from where.
class ways {
 public:
  ways(std::uint64_t at, unsigned cell) {
    const shape& piece = shapes_by_code[code_at(at, cell)];
    const std::uint64_t taken = mask_of(without(at, cell));
    came.fill(nowhere);
    came[cell] = static_cast<std::uint8_t>(cell);
    reached[count++] = static_cast<std::uint8_t>(cell);
    for (unsigned i = 0; i < count; ++i) {
      for (const direction way : all_directions) {
        if (!has_room(taken, piece, reached[i], way)) continue;
        const unsigned next = neighbour(reached[i], way);
        if (came[next] != nowhere) continue;
        came[next] = reached[i];
        reached[count++] = static_cast<std::uint8_t>(next);
      }
    }
  }

  static constexpr std::uint8_t nowhere = 255;

  std::array<std::uint8_t, cells> came;
  std::array<std::uint8_t, cells> reached;
  unsigned count = 0;
};

/// Places pieces, kind by kind and of each kind in ascending order, so that no arrangement is met
/// twice.
class arrangements {
 public:
  arrangements(std::uint64_t start, std::vector<std::uint64_t>& found) : found_(found) {
    for (unsigned cell = 0; cell < cells; ++cell) ++left_[code_at(start, cell)];
  }

  void place(std::uint64_t at, std::size_t kind, unsigned first) {
    while (kind < kinds.size() && left_[kinds[kind]] == 0) {
      ++kind;
      first = 0;
    }
    if (kind == kinds.size()) {
      if (found_.size() == klotski_puzzle::most_goals) {
        throw std::invalid_argument(
            "bidirectional: the board has too many goals: take another solver");
      }
      found_.push_back(at);
      return;
    }
    const shape& piece = shapes_by_code[kinds[kind]];
    --left_[kinds[kind]];
    for (unsigned cell = first; cell < cells; ++cell) {
      if (cell % klotski_board::width + piece.width > klotski_board::width) continue;
      if (cell / klotski_board::width + piece.height > klotski_board::height) break;
      const std::uint64_t codes = piece.codes << (bits * cell);
      if ((mask_of(codes) & mask_of(at)) == 0) place(at | codes, kind, cell + 1);
    }
    ++left_[kinds[kind]];
  }

 private:
  static constexpr std::array<unsigned, 3> kinds{4, 2, 1};

  std::array<unsigned, 8> left_{};
  std::vector<std::uint64_t>& found_;
};

}  // namespace

std::vector<direction> klotski_route(std::uint64_t at, klotski_move move) {
  const ways piece(at, move.from);
  std::vector<direction> route;
  for (unsigned to = move.to; to != move.from && piece.came[to] != ways::nowhere;) {
    const unsigned from = piece.came[to];
    route.push_back(*std::find_if(all_directions.begin(), all_directions.end(),
                                  [&](direction way) { return neighbour(from, way) == to; }));
    to = from;
  }
  std::reverse(route.begin(), route.end());
  return route;
}

klotski_puzzle::klotski_puzzle(const klotski_board& start, metric counted)
    : start_(start.shapes()),
      metric_(counted),
      is_tight_(std::popcount(empty_cells(start_)) <= 3) {}

bool klotski_puzzle::is_goal(position at) const noexcept { return code_at(at, goal_cell) == 6; }

auto klotski_puzzle::legal_moves(position at) const -> std::vector<move> {
  std::vector<move> moves;
  moves.reserve(8);
  for (unsigned cell = 0; cell < cells; ++cell) {
    if (shapes_by_code[code_at(at, cell)].width == 0) continue;
    if (metric_ == metric::steps) {
      add_steps(at, cell, moves);
    } else {
      add_ways(at, cell, moves);
    }
  }
  return moves;
}

void klotski_puzzle::add_steps(position at, unsigned cell, std::vector<move>& moves) const {
  const shape& piece = shapes_by_code[code_at(at, cell)];
  const std::uint64_t taken = mask_of(without(at, cell));
  for (const direction way : all_directions) {
    if (has_room(taken, piece, cell, way)) moves.emplace_back(cell, neighbour(cell, way));
  }
}

void klotski_puzzle::add_ways(position at, unsigned cell, std::vector<move>& moves) const {
  const ways piece(at, cell);
  for (unsigned i = 1; i < piece.count; ++i) moves.emplace_back(cell, piece.reached[i]);
}

auto klotski_puzzle::apply(position at, move by) const noexcept -> position {
  return without(at, by.from) | shapes_by_code[code_at(at, by.from)].codes << (bits * by.to);
}

auto klotski_puzzle::goals() const -> std::vector<position> {
  std::vector<position> found;
  arrangements(start_, found).place(block << (bits * goal_cell), 0, 0);
  return found;
}

tandem::search_cost klotski_puzzle::heuristic(position at) const noexcept {
  const unsigned cell = block_cell(at);
  const unsigned distance = distance_to_goal(cell);
  if (distance == 0) return 0;
  if (is_tight_) {
    const std::uint64_t taken = mask_of(without(at, cell));
    for (const direction way : all_directions) {
      if (has_room(taken, shapes_by_code[6], cell, way) &&
          distance_to_goal(neighbour(cell, way)) < distance) {
        return 2 * distance - 1;
      }
    }
    return 2 * distance;
  }
  if (metric_ == metric::steps) return distance;
  return ways(at, cell).came[goal_cell] != ways::nowhere ? 1 : 2;
}

}  // namespace puzzles
