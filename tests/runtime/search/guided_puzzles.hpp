// guided_puzzles.hpp: puzzles with estimates, costs and ways back, for the tests of informed searches.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/puzzle.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/search/search_puzzles.hpp"

namespace tandem::test {

/// The 8-puzzle with the Manhattan distance; moves are tiles, each its own inverse.
class guided_eight : public eight_puzzle {
 public:
  using eight_puzzle::eight_puzzle;

  int heuristic(const position& at) const {
    int sum = 0;
    for (int cell = 0; cell < 9; ++cell) {
      const int tile = at[static_cast<std::size_t>(cell)] - '0';
      if (tile == 0) continue;
      const int home = tile - 1;
      sum += std::abs(cell / 3 - home / 3) + std::abs(cell % 3 - home % 3);
    }
    return sum;
  }
  move inverse(const position&, move tile) const { return tile; }
};

/// A random solvable board.
inline std::string random_eight(std::mt19937& random) {
  std::string board = "123456780";
  while (true) {
    std::shuffle(board.begin(), board.end(), random);
    int inversions = 0;
    for (std::size_t i = 0; i < board.size(); ++i) {
      for (std::size_t j = i + 1; j < board.size(); ++j) {
        if (board[i] != '0' && board[j] != '0' && board[i] > board[j]) ++inversions;
      }
    }
    if (inversions % 2 == 0) return board;
  }
}

/// A random directed graph whose edges cost 1 to 9, with some goals, the distance of each position
/// to the nearest goal (by Dijkstra's algorithm, backwards), and estimates that are random parts of
/// that distance: admissible, and nowhere near consistent.
class random_graph {
 public:
  using position = int;
  class move {
   public:
    move(int target, search_cost price) : to(target), costs(price) {}
    bool operator==(const move&) const = default;

    int to;
    search_cost costs;
  };

  random_graph(unsigned seed, int size, int edges_each, int goals) : edges_(as_index(size)) {
    std::mt19937 random(seed);
    auto below = [&](int limit) {
      return std::uniform_int_distribution<int>(0, limit - 1)(random);
    };
    for (auto& from : edges_) {
      const int count = below(edges_each + 1);
      for (int i = 0; i < count; ++i) {
        from.emplace_back(below(size), static_cast<search_cost>(1 + below(9)));
      }
    }
    goal_.resize(as_index(size));
    for (int i = 0; i < goals; ++i) goal_[as_index(below(size))] = true;
    measure();
    for (const std::uint64_t distance : distances_) {
      const int part = below(5);  // quarters: 0 is none of it, 4 all
      estimates_.push_back(
          distance == infinite
              ? (part < 2 ? unreachable : static_cast<search_cost>(part))
              : static_cast<search_cost>(distance * static_cast<unsigned>(part) / 4));
    }
  }

  position initial() const { return 0; }
  bool is_goal(position at) const { return goal_[as_index(at)]; }
  const std::vector<move>& legal_moves(position at) const { return edges_[as_index(at)]; }
  position apply(position, const move& by) const { return by.to; }
  search_cost cost(position, const move& by) const { return by.costs; }
  search_cost heuristic(position at) const { return estimates_[as_index(at)]; }

  static constexpr std::uint64_t infinite = std::numeric_limits<std::uint64_t>::max();
  /// Of the start to the nearest goal.
  std::uint64_t distance() const { return distances_[0]; }
  std::uint64_t cost_of(const std::vector<move>& path) const {
    std::uint64_t sum = 0;
    for (const move& by : path) sum += by.costs;
    return sum;
  }

 private:
  static std::size_t as_index(int at) { return static_cast<std::size_t>(at); }

  void measure() {
    distances_.assign(edges_.size(), infinite);
    std::vector<std::vector<move>> backward(edges_.size());
    for (std::size_t from = 0; from < edges_.size(); ++from) {
      for (const move& by : edges_[from]) {
        backward[as_index(by.to)].emplace_back(static_cast<int>(from), by.costs);
      }
    }
    using entry = std::pair<std::uint64_t, int>;
    std::priority_queue<entry, std::vector<entry>, std::greater<>> open;
    for (std::size_t at = 0; at < goal_.size(); ++at) {
      if (goal_[at]) open.emplace(0, static_cast<int>(at));
    }
    while (!open.empty()) {
      const auto [distance, at] = open.top();
      open.pop();
      if (distances_[as_index(at)] != infinite) continue;
      distances_[as_index(at)] = distance;
      for (const move& by : backward[as_index(at)]) open.emplace(distance + by.costs, by.to);
    }
  }

  std::vector<std::vector<move>> edges_;
  std::vector<bool> goal_;
  std::vector<std::uint64_t> distances_;
  std::vector<search_cost> estimates_;
};

/// 0, 1, 2 .. length, with whatever estimate and cost a test wants.
class told_chain {
 public:
  using position = int;
  using move = int;

  explicit told_chain(int length) : length_(length) {}

  position initial() const { return 0; }
  bool is_goal(position at) const { return at == length_; }
  std::vector<move> legal_moves(position at) const {
    return at < length_ + 3 ? std::vector<move>{1} : std::vector<move>{};
  }
  position apply(position at, move by) const { return at + by; }
  std::int64_t heuristic(position at) const { return estimate(at); }
  std::int64_t cost(position at, move) const { return price(at); }

  std::function<std::int64_t(position)> estimate = [](position) { return 0; };
  std::function<std::int64_t(position)> price = [](position) { return 1; };

 private:
  int length_;
};

}  // namespace tandem::test
