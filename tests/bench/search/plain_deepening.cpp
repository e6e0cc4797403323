// plain_deepening.cpp: IDA* on the 15-puzzle by hand.
// SPDX-License-Identifier: MIT
#include "plain_deepening.hpp"

#include <cstdlib>

namespace tandem::bench {

namespace {

constexpr int side = 4;

int distance(int tile, int cell) {
  return std::abs(tile / side - cell / side) + std::abs(tile % side - cell % side);
}

class tables {
 public:
  tables() {
    for (int cell = 0; cell < 16; ++cell) {
      auto& to = neighbours[static_cast<std::size_t>(cell)];
      if (cell >= side) to.push_back(cell - side);
      if (cell % side > 0) to.push_back(cell - 1);
      if (cell % side + 1 < side) to.push_back(cell + 1);
      if (cell + side < 16) to.push_back(cell + side);
      for (int tile = 0; tile < 16; ++tile) {
        distances[static_cast<std::size_t>(tile)][static_cast<std::size_t>(cell)] =
            tile == 0 ? 0 : distance(tile, cell);
      }
    }
  }

  std::array<std::vector<int>, 16> neighbours;
  std::array<std::array<int, 16>, 16> distances{};
};

const tables known;

}  // namespace

manhattan_fifteen::manhattan_fifteen(const std::vector<int>& start) {
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    const auto tile = static_cast<std::size_t>(start.at(cell));
    cells_[cell] = static_cast<std::uint8_t>(tile);
    if (tile == 0) blank_ = static_cast<int>(cell);
    estimate_ += known.distances[tile][cell];
  }
}

visit_count manhattan_fifteen::operator()() {
  nodes_ = 0;
  const std::array<std::uint8_t, 16> start = cells_;
  for (bound_ = estimate_;; bound_ = next_bound_) {
    next_bound_ = std::numeric_limits<int>::max();
    const bool found = visit(blank_, 0, estimate_, -1);
    cells_ = start;
    if (found) return visit_count(nodes_, static_cast<std::uint64_t>(length_));
  }
}

bool manhattan_fifteen::visit(int blank, int cost, int estimate, int from) {
  ++nodes_;
  if (estimate == 0) {
    length_ = cost;
    return true;
  }
  for (const int cell : known.neighbours[static_cast<std::size_t>(blank)]) {
    if (cell == from) continue;
    const auto hole = static_cast<std::size_t>(blank);
    const auto source = static_cast<std::size_t>(cell);
    const std::uint8_t tile = cells_[source];
    const int next = estimate + known.distances[tile][hole] - known.distances[tile][source];
    if (cost + 1 + next > bound_) {
      next_bound_ = std::min(next_bound_, cost + 1 + next);
      continue;
    }
    cells_[hole] = tile;
    cells_[source] = 0;
    if (visit(cell, cost + 1, next, blank)) return true;
    cells_[source] = tile;
    cells_[hole] = 0;
  }
  return false;
}

}  // namespace tandem::bench
