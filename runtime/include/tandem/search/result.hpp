// result.hpp: how a search ended and what it found.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tandem/puzzle.hpp>

namespace tandem::inline v0 {

enum class search_outcome : std::uint8_t {
  solved,      ///< a goal was found
  exhausted,   ///< every reachable position was visited; count_solutions always ends so
  node_limit,  ///< search_options::node_limit was reached first
  time_limit,  ///< search_options::time_limit was reached first
};

constexpr std::string_view to_string(search_outcome outcome) noexcept {
  switch (outcome) {
    case search_outcome::solved: return "solved";
    case search_outcome::exhausted: return "exhausted";
    case search_outcome::node_limit: return "node_limit";
    case search_outcome::time_limit: return "time_limit";
  }
  return "unknown";
}

/// The end of a search.
template <puzzle P>
class search_result {
 public:
  bool solved() const noexcept { return outcome == search_outcome::solved; }

  search_outcome outcome = search_outcome::exhausted;
  /// Moves from the initial position to the goal; empty if there is none or the start is a goal.
  std::vector<typename P::move> path;
  /// Distinct positions visited, the initial one included (count_solutions: tree nodes).
  std::uint64_t nodes = 0;
  /// Goals found: 0 or 1 for a search that stops at the first one.
  std::uint64_t solutions = 0;
  std::chrono::nanoseconds elapsed{0};
};

}  // namespace tandem::inline v0
