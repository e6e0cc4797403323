// search_node.hpp: a visited position and the move that led to it.
// SPDX-License-Identifier: MIT
//
// Nodes live in the arena of a seen_shard until the search is over and point to their parents, so a
// path is read backwards from its goal. They own nothing of each other: freeing a chain of any
// length is a loop over the arena.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/puzzle.hpp>

namespace tandem::inline v0::detail {

template <puzzle P>
class search_node {
 public:
  using position = typename P::position;
  using move = typename P::move;

  static constexpr bool is_trivial =
      std::is_trivially_destructible_v<position> && std::is_trivially_destructible_v<move>;

  explicit search_node(position&& root) : at(std::move(root)) {}
  search_node(position&& reached, const search_node* from, move&& by)
      : at(std::move(reached)), parent(from), via(std::move(by)) {}
  search_node(const search_node&) = delete;
  search_node& operator=(const search_node&) = delete;
  ~search_node() {
    if (parent != nullptr) std::destroy_at(std::addressof(via));
  }

  position at;
  const search_node* parent = nullptr;
  union {
    move via;  // exists unless this is the root, so that moves need no default constructor
  };
};

/// The moves from the root to `goal`.
template <puzzle P>
std::vector<typename P::move> path_to(const search_node<P>* goal) {
  std::vector<typename P::move> path;
  for (auto* node = goal; node->parent != nullptr; node = node->parent) path.push_back(node->via);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace tandem::inline v0::detail
