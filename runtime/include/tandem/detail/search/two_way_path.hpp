// two_way_path.hpp: the path through the position in which two searches have met.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <tandem/detail/search/estimate.hpp>
#include <tandem/detail/search/path.hpp>
#include <tandem/detail/search/search_node.hpp>
#include <tandem/puzzle.hpp>

namespace tandem::inline v0::detail {

[[noreturn]] TANDEM_API void throw_false_goal();
[[noreturn]] TANDEM_API void throw_unnamed_goal(std::size_t step);
[[noreturn]] TANDEM_API void throw_wrong_inverse(std::size_t step);

/// Any goal before the end was not named, and there may be nearer ones.
template <two_way_puzzle P>
void check_no_goal_before_the_end(const P& puzzle, const std::vector<typename P::move>& path) {
  std::optional<typename P::position> at(puzzle.initial());
  for (std::size_t step = 0; step < path.size(); ++step) {
    if (puzzle.is_goal(*at)) throw_unnamed_goal(step);
    go_on(puzzle, at, path[step]);
  }
}

/// The moves from the start to `forward`, which is the same position as `backward`, and from there
/// to a goal, by the inverse of each move that the search from the goals has made.
///
/// @throws              puzzle_error: an inverse leads elsewhere; a position on the way is a goal,
///                      which goals() has not named
template <two_way_puzzle P, class Payload>
std::vector<typename P::move> path_through(const P& puzzle, const search_node<P, Payload>* forward,
                                           const search_node<P, Payload>* backward) {
  std::vector<typename P::move> path = path_to(puzzle, forward);
  for (auto* node = backward; node->parent != nullptr; node = node->parent) {
    const auto& here = position_of(puzzle, *node);
    const auto& there = position_of(puzzle, *node->parent);
    typename P::move back = puzzle.inverse(there, move_to(puzzle, there, node->at));
    if (!(keep(puzzle, puzzle.apply(here, back)) == node->parent->at)) {
      throw_wrong_inverse(path.size() + 1);
    }
    path.push_back(std::move(back));
  }
  check_no_goal_before_the_end(puzzle, path);
  return path;
}

}  // namespace tandem::inline v0::detail
