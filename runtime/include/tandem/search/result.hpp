// result.hpp: how a search ended and what it found.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tandem/config.hpp>
#include <tandem/puzzle.hpp>

namespace tandem::inline v0 {

enum class search_outcome : std::uint8_t {
  solved,        ///< a goal was found
  exhausted,     ///< every reachable position was visited; counts always end so
  node_limit,    ///< search_options::node_limit was reached first
  time_limit,    ///< search_options::time_limit was reached first
  memory_limit,  ///< search_options::memory_limit was reached first
};

/// The name of the enumerator.
constexpr std::string_view to_string(search_outcome outcome) noexcept {
  switch (outcome) {
    case search_outcome::solved: return "solved";
    case search_outcome::exhausted: return "exhausted";
    case search_outcome::node_limit: return "node_limit";
    case search_outcome::time_limit: return "time_limit";
    case search_outcome::memory_limit: return "memory_limit";
  }
  return "unknown";
}

/// Whether a limit ended the search before it had an answer.
constexpr bool is_limit(search_outcome outcome) noexcept {
  return outcome == search_outcome::node_limit || outcome == search_outcome::time_limit ||
         outcome == search_outcome::memory_limit;
}

/// The puzzle has broken a promise: an estimate that is negative or too high, a move that costs 0,
/// an inverse that leads elsewhere. Found out where it can be, not always.
class TANDEM_API puzzle_error : public std::logic_error {
 public:
  explicit puzzle_error(const std::string& what);
  ~puzzle_error() override;
};

/// search_result::solution() was asked of a search that has none.
class TANDEM_API no_solution_error : public std::runtime_error {
 public:
  explicit no_solution_error(search_outcome how, const std::string& what);
  ~no_solution_error() override;

  search_outcome outcome() const noexcept { return outcome_; }

 private:
  search_outcome outcome_;
};

/// What all searches tell, whatever the puzzle.
class TANDEM_API search_summary {
 public:
  bool solved() const noexcept { return outcome == search_outcome::solved; }
  double nodes_per_second() const noexcept;
  /// Bytes per position kept, 0 if none was: see memory_bytes.
  double bytes_per_position() const noexcept;
  /// The end in words, in one line: "the node limit of 1000 was reached after 1024 positions and
  /// 3.1 ms".
  std::string describe() const;

  search_outcome outcome = search_outcome::exhausted;
  /// Positions visited, the initial one included. Distinct ones, except for iterative deepening
  /// (all visits of all iterations) and counts (nodes of the tree).
  std::uint64_t nodes = 0;
  /// Goals found: 0 or 1 for a search that stops at the first one.
  std::uint64_t solutions = 0;
  /// Deepest level in which a breadth-first search has reached a position (both sides together for a
  /// bidirectional one), last bound of an iterative deepening, greatest depth of a counted tree;
  /// else 0.
  std::uint64_t depth = 0;
  std::chrono::nanoseconds elapsed{0};
  std::uint64_t positions_kept =
      0;                         ///< in the seen set, or the table of transpositions, at the end
  std::size_t memory_bytes = 0;  ///< most that seen set, frontier and table took at a time
  /// Of `memory_bytes`, what the positions that were kept took: themselves, their parents, slots.
  std::size_t seen_bytes = 0;
  std::uint64_t limit = 0;  ///< that ended the search: positions, nanoseconds or bytes
};

/// The end of a search for a path.
template <puzzle P>
class search_result : public search_summary {
 public:
  /// @returns             the path
  /// @throws              no_solution_error: there is none, or a limit came first; describe()
  const std::vector<typename P::move>& solution() const {
    if (!solved()) throw no_solution_error(outcome, describe());
    return path;
  }

  /// Moves from the initial position to the goal; empty if there is none or the start is a goal.
  std::vector<typename P::move> path;
  /// Of the path: the sum of its moves' costs, their number if the puzzle knows no costs.
  std::uint64_t cost = 0;
};

/// The end of count_tree.
class TANDEM_API tree_result : public search_summary {
 public:
  /// As search_summary::describe(), or what was counted: "21 nodes, 8 leaves, depth 3 in 1.2 ms".
  std::string describe() const;

  std::uint64_t leaves = 0;  ///< nodes without a child
};

}  // namespace tandem::inline v0
