// path.hpp: the path to a node, found again.
// SPDX-License-Identifier: MIT
//
// Nodes know their parents, not the moves. A path is some dozens of moves long, or some thousands,
// and each of them is found by one more look at the moves of its parent: of several that lead to
// the same position the first one, or the cheapest if moves have costs.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <tandem/detail/search/estimate.hpp>
#include <tandem/detail/search/search_node.hpp>
#include <tandem/puzzle.hpp>
#include <tandem/search/result.hpp>

namespace tandem::inline v0::detail {

[[noreturn]] TANDEM_API void throw_lost_move();

/// The move that leads from `at` to `to`.
///
/// @throws              puzzle_error: there is none; what the puzzle throws
template <puzzle P>
typename P::move move_to(const P& puzzle, const typename P::position& at,
                         const kept_position<P>& to) {
  std::optional<typename P::move> cheapest;
  search_cost least = unreachable;
  for (auto&& by : puzzle.legal_moves(at)) {
    typename P::move via(std::forward<decltype(by)>(by));
    if (!(keep(puzzle, puzzle.apply(at, via)) == to)) continue;
    if constexpr (weighted_puzzle<P>) {
      const search_cost cost = cost_of(puzzle, at, via);
      if (cost >= least) continue;
      least = cost;
      cheapest.emplace(std::move(via));
    } else {
      return via;
    }
  }
  if (!cheapest) throw_lost_move();
  return std::move(*cheapest);
}

/// The moves from the root to `goal`.
template <puzzle P, class Payload>
std::vector<typename P::move> path_to(const P& puzzle, const search_node<P, Payload>* goal) {
  std::vector<const search_node<P, Payload>*> nodes;
  for (auto* node = goal; node != nullptr; node = node->parent) nodes.push_back(node);
  std::vector<typename P::move> path;
  path.reserve(nodes.size() - 1);
  for (std::size_t i = nodes.size() - 1; i > 0; --i) {
    path.push_back(move_to(puzzle, position_of(puzzle, *nodes[i]), nodes[i - 1]->at));
  }
  return path;
}

/// Fills in path and cost.
template <puzzle P>
void put_path(search_result<P>& result, const P& puzzle, std::vector<typename P::move>&& path) {
  result.cost = cost_of_path(puzzle, path);
  result.path = std::move(path);
  result.solutions = 1;
}

}  // namespace tandem::inline v0::detail
