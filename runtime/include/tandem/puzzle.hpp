// puzzle.hpp: what a puzzle has to offer to be solved by <tandem/search.hpp>.
// SPDX-License-Identifier: MIT
//
// A puzzle is a graph given by its start, its goals and its moves, after the Puzzle interface of
// "Java Concurrency in Practice" 8.5. Solvers call every function as const, from several threads at
// once, and hold no lock of their own meanwhile; any of them may throw, which ends the search.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <type_traits>

#include <tandem/detail/split_mix.hpp>

namespace tandem::inline v0 {

/// A position that can be told apart by hash: `puzzle.hash(position)` if there is one, else
/// std::hash. Equal positions must have equal hashes; the bits need not be well mixed.
template <class P>
concept hashable_positions = requires(const P& puzzle, const typename P::position& at) {
  { puzzle.hash(at) } -> std::convertible_to<std::uint64_t>;
} || requires(const typename P::position& at) {
  { std::hash<typename P::position>{}(at) } -> std::convertible_to<std::uint64_t>;
};

/// A puzzle:
///
///     struct counter {  // reach 10 from 1 by doubling and adding one
///       using position = int;
///       enum class move { twice, plus_one };
///       int initial() const { return 1; }
///       bool is_goal(int at) const { return at == 10; }
///       std::vector<move> legal_moves(int at) const {
///         return at < 10 ? std::vector{move::twice, move::plus_one} : std::vector<move>{};
///       }
///       int apply(int at, move m) const { return m == move::twice ? 2 * at : at + 1; }
///     };
///
/// @thread_safety       all functions are const and called from several threads at once
template <class P>
concept puzzle =
    std::copy_constructible<typename P::position> &&
    std::equality_comparable<typename P::position> && std::copy_constructible<typename P::move> &&
    hashable_positions<P> &&
    requires(const P& puzzle, const typename P::position& at, const typename P::move& via) {
      { puzzle.initial() } -> std::convertible_to<typename P::position>;
      { puzzle.is_goal(at) } -> std::convertible_to<bool>;
      { puzzle.legal_moves(at) } -> std::ranges::input_range;
      { puzzle.apply(at, via) } -> std::convertible_to<typename P::position>;
      requires std::convertible_to<std::ranges::range_reference_t<decltype(puzzle.legal_moves(at))>,
                                   typename P::move>;
    };

namespace detail {

/// The position's hash with every bit depending on every bit: shard, slot and tag are cut out of
/// it. (The finaliser of SplitMix64, Steele, Lea, Flood 2014.)
template <class P>
std::uint64_t mixed_hash(const P& puzzle, const typename P::position& at) {
  std::uint64_t bits;
  if constexpr (requires { puzzle.hash(at); }) {
    bits = static_cast<std::uint64_t>(puzzle.hash(at));
  } else {
    bits = static_cast<std::uint64_t>(std::hash<typename P::position>{}(at));
  }
  return split_mix(bits);
}

}  // namespace detail
}  // namespace tandem::inline v0
