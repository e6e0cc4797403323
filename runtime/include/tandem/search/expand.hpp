// expand.hpp: the positions one move away from a node.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tandem/puzzle.hpp>
#include <tandem/search/search_node.hpp>

namespace tandem::inline v0::detail {

/// A position that was reached and not looked up yet.
template <puzzle P>
class search_candidate {
 public:
  search_candidate(const P& puzzle, const search_node<P>& parent, typename P::move by)
      : at(puzzle.apply(parent.at, by)),
        via(std::move(by)),
        from(&parent),
        hash(mixed_hash(puzzle, at)) {}

  typename P::position at;
  typename P::move via;
  const search_node<P>* from;
  std::uint64_t hash;
};

/// Appends all that can be reached from `node` by one move.
template <puzzle P>
void expand(const P& puzzle, const search_node<P>& node, std::vector<search_candidate<P>>& out) {
  for (auto&& by : puzzle.legal_moves(node.at)) {
    out.emplace_back(puzzle, node, std::forward<decltype(by)>(by));
  }
}

}  // namespace tandem::inline v0::detail
