// search_node.hpp: a visited position and where it was reached from.
// SPDX-License-Identifier: MIT
//
// Nodes live in the arena of a seen_shard until the search is over and point to their parents. The
// move between the two is not kept: whoever wants the path finds it again (path.hpp). So a position
// that is packed into 8 bytes takes 16, and slots of 10 to 15 more in its shard.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <tandem/puzzle.hpp>

namespace tandem::inline v0::detail {

/// What most searches keep beside a position: nothing.
class no_payload {};

/// For best_first_search: the cost of the cheapest way that is known.
class least_cost {
 public:
  explicit least_cost(std::uint64_t cost) noexcept : value(cost) {}

  /// searching/lower: written, as the parent is, by whoever enters the partition; only falls.
  std::uint64_t value;
};

template <puzzle P, class Payload = no_payload>
class search_node {
 public:
  using kept = kept_position<P>;

  static constexpr bool is_trivial =
      std::is_trivially_destructible_v<kept> && std::is_trivially_destructible_v<Payload>;

  template <class... Args>
  explicit search_node(kept&& reached, const search_node* from, Args&&... args)
      : at(std::move(reached)), parent(from), payload(std::forward<Args>(args)...) {}
  search_node(const search_node&) = delete;
  search_node& operator=(const search_node&) = delete;

  kept at;
  const search_node* parent;  // null: a root
  [[no_unique_address]] Payload payload;
};

/// The node's position: a reference to it, or a new one unpacked.
template <puzzle P, class Payload>
decltype(auto) position_of(const P& puzzle, const search_node<P, Payload>& node) {
  return unkeep(puzzle, node.at);
}

/// A base of what was reached and is to be entered.
template <puzzle P, class Node>
class held_position {
 public:
  using position = typename P::position;

  explicit held_position(position&& reached) noexcept(
      std::is_nothrow_move_constructible_v<position>)
      : at(std::move(reached)) {}

  /// The position, after `node` was made of this, or found to be the same.
  const position& position_in([[maybe_unused]] const Node& node) const noexcept {
    if constexpr (packed_puzzle<P>) {
      return at;
    } else {
      return node.at;
    }
  }

  position at;
};

}  // namespace tandem::inline v0::detail
