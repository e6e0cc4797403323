// search_puzzles.hpp: small puzzles with known answers, for the tests of <tandem/search.hpp>.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/puzzle.hpp>

namespace tandem::test {

/// The 8-puzzle on a string of nine digits; a move is the tile that slides.
class eight_puzzle {
 public:
  using position = std::string;
  using move = char;

  explicit eight_puzzle(std::string start, std::string goal = "123456780")
      : start_(std::move(start)), goal_(std::move(goal)) {}

  position initial() const { return start_; }
  bool is_goal(const position& at) const { return at == goal_; }
  std::vector<move> legal_moves(const position& at) const {
    const auto blank = static_cast<int>(at.find('0'));
    std::vector<move> moves;
    for (int cell = 0; cell < 9; ++cell) {
      if (std::abs(cell / 3 - blank / 3) + std::abs(cell % 3 - blank % 3) == 1) {
        moves.push_back(at[static_cast<std::size_t>(cell)]);
      }
    }
    return moves;
  }
  position apply(position at, move tile) const {
    std::iter_swap(std::find(at.begin(), at.end(), '0'), std::find(at.begin(), at.end(), tile));
    return at;
  }
  move inverse(const position&, move tile) const { return tile; }
  std::vector<position> goals() const { return {goal_}; }

 private:
  std::string start_;
  std::string goal_;
};

inline constexpr std::string_view unsolvable_eight = "123456870";
inline constexpr std::string_view farthest_eights[] = {"647850321", "867254301"};
inline constexpr std::uint64_t reachable_eights = 181'440;

/// The columns of queens, row by row.
class queens {
 public:
  using position = std::vector<int>;
  using move = int;

  explicit queens(int n) : n_(n) {}

  position initial() const { return {}; }
  bool is_goal(const position& at) const { return static_cast<int>(at.size()) == n_; }
  std::uint64_t hash(const position& at) const {
    std::uint64_t sum = 0;
    for (const int column : at) sum = sum * 31 + static_cast<std::uint64_t>(column) + 1;
    return sum;
  }
  std::vector<move> legal_moves(const position& at) const {
    std::vector<move> free;
    const auto row = static_cast<int>(at.size());
    for (int column = 0; row < n_ && column < n_; ++column) {
      bool attacked = false;
      for (int other = 0; other < row; ++other) {
        const int distance = std::abs(at[static_cast<std::size_t>(other)] - column);
        attacked = attacked || distance == 0 || distance == row - other;
      }
      if (!attacked) free.push_back(column);
    }
    return free;
  }
  position apply(position at, move column) const {
    at.push_back(column);
    return at;
  }

 private:
  int n_;
};

/// A tree of numbers without end: n has the children 2n and 2n + 1. Wide enough for every worker.
/// The goal is the root of a second one (the highest bit says which), so there is no way to it.
class endless {
 public:
  using position = std::uint64_t;
  using move = unsigned;

  position initial() const { return 1; }
  bool is_goal(position at) const { return at == (other_tree | 1); }
  std::array<move, 2> legal_moves(position) const { return {0, 1}; }
  position apply(position at, move by) const {
    const position in_tree = at & ~other_tree;
    return (at & other_tree) | (by == up ? in_tree / 2 : (in_tree * 2 + by) & ~other_tree);
  }
  move inverse(position, move) const { return up; }
  std::array<position, 1> goals() const { return {other_tree | 1}; }

 private:
  static constexpr position other_tree = position{1} << 63;
  static constexpr move up = 2;
};

/// 0, 1, 2 .. length: one way to go at every step.
class chain {
 public:
  using position = int;
  using move = int;

  explicit chain(int length) : length_(length) {}

  position initial() const { return 0; }
  bool is_goal(position at) const { return at == length_; }
  std::array<move, 1> legal_moves(position) const { return {1}; }
  position apply(position at, move by) const { return at + by; }

 private:
  int length_;
};

/// Another puzzle, watched: what is called, how many threads are inside at once.
template <class P>
class watched {
 public:
  using position = typename P::position;
  using move = typename P::move;
  using hook = std::function<void(std::uint64_t call)>;

  explicit watched(P base) : base_(std::move(base)) {}

  position initial() const { return base_.initial(); }
  bool is_goal(const position& at) const {
    const inside here(*this);
    if (on_is_goal) on_is_goal(++goal_calls);
    return base_.is_goal(at);
  }
  std::uint64_t hash(const position& at) const {
    if constexpr (requires { base_.hash(at); }) {
      return base_.hash(at);
    } else {
      return std::hash<position>{}(at);
    }
  }
  auto legal_moves(const position& at) const {
    const inside here(*this);
    const std::uint64_t call = ++expansions;
    if (on_expand) on_expand(call);
    return base_.legal_moves(at);
  }
  position apply(const position& at, const move& by) const {
    const inside here(*this);
    const std::uint64_t call = ++applications;
    if (on_apply) on_apply(call);
    return base_.apply(at, by);
  }
  move inverse(const position& at, const move& by) const
    requires two_way_puzzle<P>
  {
    return base_.inverse(at, by);
  }
  auto goals() const
    requires two_way_puzzle<P>
  {
    return base_.goals();
  }

  hook on_is_goal;
  hook on_expand;
  hook on_apply;
  mutable std::atomic<std::uint64_t> goal_calls{0};
  mutable std::atomic<std::uint64_t> expansions{0};
  mutable std::atomic<std::uint64_t> applications{0};
  mutable std::atomic<int> inside_now{0};
  mutable std::atomic<int> inside_most{0};

 private:
  class inside {
   public:
    explicit inside(const watched& of) : of_(of) {
      const int now = ++of_.inside_now;
      int most = of_.inside_most.load();
      while (most < now && !of_.inside_most.compare_exchange_weak(most, now)) {}
    }
    ~inside() { --of_.inside_now; }
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;

   private:
    const watched& of_;
  };

  P base_;
};

/// Another puzzle, seen only as deep as `depth`; the depth is no part of a position's identity.
template <class P>
class shallow {
 public:
  class position {
   public:
    position(typename P::position where, int steps) : at(std::move(where)), depth(steps) {}
    bool operator==(const position& other) const { return at == other.at; }

    typename P::position at;
    int depth;
  };
  using move = typename P::move;

  shallow(P base, int depth) : base_(std::move(base)), depth_(depth) {}

  position initial() const { return position(base_.initial(), 0); }
  bool is_goal(const position&) const { return false; }
  std::uint64_t hash(const position& from) const {
    return std::hash<typename P::position>{}(from.at);
  }
  std::vector<move> legal_moves(const position& from) const {
    return from.depth < depth_ ? base_.legal_moves(from.at) : std::vector<move>{};
  }
  position apply(const position& from, const move& by) const {
    return position(base_.apply(from.at, by), from.depth + 1);
  }

 private:
  P base_;
  int depth_;
};

}  // namespace tandem::test
