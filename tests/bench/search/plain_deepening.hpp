// plain_deepening.hpp: IDA* without tandem: the loop of a puzzle's own functions, and one by hand.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "suite.hpp"

namespace tandem::bench {

/// The recursion that anybody would write over a puzzle with heuristic() and inverse(), moves that
/// cost 1: the same code for positions as iterative_deepening_search runs.
template <class Puzzle>
class plain_deepening {
 public:
  explicit plain_deepening(const Puzzle& puzzle) : puzzle_(puzzle) {}

  visit_count operator()() {
    const position root = puzzle_.initial();
    nodes_ = 0;
    for (bound_ = puzzle_.heuristic(root);; bound_ = next_bound_) {
      next_bound_ = std::numeric_limits<std::uint64_t>::max();
      path_.clear();
      if (visit_root(root)) return visit_count(nodes_, path_.size());
    }
  }

 private:
  using position = typename Puzzle::position;
  using move = typename Puzzle::move;

  bool visit_root(const position& root) {
    ++nodes_;
    if (puzzle_.is_goal(root)) return true;
    for (const move by : puzzle_.legal_moves(root)) {
      if (reach(root, by, 0)) return true;
    }
    return false;
  }

  bool visit(const position& at, std::uint64_t cost, move back) {
    ++nodes_;
    if (puzzle_.is_goal(at)) return true;
    for (const move by : puzzle_.legal_moves(at)) {
      if (by != back && reach(at, by, cost)) return true;
    }
    return false;
  }

  bool reach(const position& at, move by, std::uint64_t cost) {
    const position next = puzzle_.apply(at, by);
    const std::uint64_t whole = cost + 1 + puzzle_.heuristic(next);
    if (whole > bound_) {
      next_bound_ = std::min(next_bound_, whole);
      return false;
    }
    path_.push_back(by);
    if (visit(next, cost + 1, puzzle_.inverse(at, by))) return true;
    path_.pop_back();
    return false;
  }

  Puzzle puzzle_;
  std::uint64_t nodes_ = 0;
  std::uint64_t bound_ = 0;
  std::uint64_t next_bound_ = 0;
  std::vector<move> path_;
};

/// IDA* on the 15-puzzle as it is written by hand: a byte per cell, moves made and taken back in
/// place, Manhattan distance by differences; goal 0 1 .. 15. It knows less than the puzzle of
/// examples/puzzle (no linear conflicts), and so visits far more positions, each of them cheaper.
class manhattan_fifteen {
 public:
  explicit manhattan_fifteen(const std::vector<int>& start);

  visit_count operator()();

 private:
  bool visit(int blank, int cost, int estimate, int from);

  std::array<std::uint8_t, 16> cells_{};
  int blank_ = 0;
  int estimate_ = 0;
  int bound_ = 0;
  int next_bound_ = 0;
  std::uint64_t nodes_ = 0;
  int length_ = 0;
};

}  // namespace tandem::bench
