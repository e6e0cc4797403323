// expand.hpp: the positions one move away from a node.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <tandem/detail/search/search_node.hpp>
#include <tandem/puzzle.hpp>

namespace tandem::inline v0::detail {

/// A position that was reached and not looked up yet: packed and hashed already, since that is the
/// user's code and belongs under no lock.
template <puzzle P, class Node = search_node<P>>
class search_candidate : public held_position<P, Node> {
 public:
  using position = typename P::position;

  search_candidate(const P& puzzle, position&& reached, const Node* parent)
      : held_position<P, Node>(std::move(reached)),
        packed_(puzzle, this->at),
        hash(hashed(puzzle)),
        from(parent) {}

  /// What the node is made of. The position itself stays valid if it is a packed one that is kept.
  kept_position<P>&& kept() noexcept {
    if constexpr (packed_puzzle<P>) {
      return std::move(packed_.value);
    } else {
      return std::move(this->at);
    }
  }

 private:
  class packed_form {
   public:
    packed_form(const P& puzzle, const position& at) : value(puzzle.pack(at)) {}
    kept_position<P> value;
  };
  class no_form {
   public:
    no_form(const P&, const position&) noexcept {}
  };

  std::uint64_t hashed(const P& puzzle) const {
    if constexpr (packed_puzzle<P>) {
      return mixed_hash(puzzle, this->at, packed_.value);
    } else {
      return mixed_hash(puzzle, this->at);
    }
  }

  [[no_unique_address]] std::conditional_t<packed_puzzle<P>, packed_form, no_form> packed_;

 public:
  std::uint64_t hash;
  const Node* from;
};

/// Appends all that can be reached from `node` by one move.
template <puzzle P, class Node, class Candidates>
void expand(const P& puzzle, const Node& node, Candidates& out) {
  const auto& at = position_of(puzzle, node);
  for (auto&& by : puzzle.legal_moves(at)) {
    const typename P::move& via = by;
    out.emplace_back(puzzle, typename P::position(puzzle.apply(at, via)), &node);
  }
}

}  // namespace tandem::inline v0::detail
