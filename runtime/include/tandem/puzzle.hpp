// puzzle.hpp: what a puzzle has to offer to be solved by <tandem/search.hpp>.
// SPDX-License-Identifier: MIT
//
// A puzzle is a graph given by its start, its goals and its moves, after the Puzzle interface of
// "Java Concurrency in Practice" 8.5. Solvers call every function as const, from several threads at
// once, and hold no lock of their own meanwhile; any of them may throw, which ends the search.
// A puzzle may offer more than it must: an estimate, costs, a way back, a codec. Solvers use what
// they find, and do not compile without what they need.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <tandem/detail/split_mix.hpp>

namespace tandem::inline v0 {

/// A position that can be told apart by hash: `puzzle.hash(position)` if there is one, else
/// std::hash of the position, else std::hash of what the puzzle's codec packs it into. Equal
/// positions must have equal hashes; the bits need not be well mixed.
template <class P>
concept hashable_positions = requires(const P& puzzle, const typename P::position& at) {
  { puzzle.hash(at) } -> std::convertible_to<std::uint64_t>;
} || requires(const typename P::position& at) {
  { std::hash<typename P::position>{}(at) } -> std::convertible_to<std::uint64_t>;
} || requires(const P& puzzle, const typename P::position& at) {
  {
    std::hash<std::remove_cvref_t<decltype(puzzle.pack(at))>>{}(puzzle.pack(at))
  } -> std::convertible_to<std::uint64_t>;
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

/// What moves cost, or how far a goal is: `puzzle.cost(at, by)`, else 1 for each move.
using search_cost = std::uint32_t;

/// An estimate for positions from which no goal can be reached. Costs and estimates are below it.
inline constexpr search_cost unreachable = search_cost{1} << 31;

/// A puzzle with an estimate of what is still to be paid, for iterative_deepening_search and
/// best_first_search:
///
///     search_cost heuristic(const position& at) const;
///
/// It has to be admissible: never more than the cheapest way from `at` to a goal costs, so 0 at
/// every goal; `unreachable` or more where there is none. It need not be consistent. It is called
/// for every position that is reached: let the position carry what is dear to compute anew.
template <class P>
concept guided_puzzle = puzzle<P> && requires(const P& puzzle, const typename P::position& at) {
  { puzzle.heuristic(at) } -> std::convertible_to<std::int64_t>;
};

/// A puzzle whose moves cost different things, each at least 1 and below `unreachable`:
///
///     search_cost cost(const position& at, const move& by) const;
///
/// iterative_deepening_search and best_first_search find a cheapest path. The others find what they
/// find, and add up what it costs. Sums have 64 bits.
template <class P>
concept weighted_puzzle = puzzle<P> && requires(const P& puzzle, const typename P::position& at,
                                                const typename P::move& by) {
  { puzzle.cost(at, by) } -> std::convertible_to<std::int64_t>;
};

/// A puzzle whose moves can be taken back:
///
///     move inverse(const position& at, const move& by) const;
///
/// is the move that leads from apply(at, by) back to `at`.
template <class P>
concept reversible_puzzle = puzzle<P> && requires(const P& puzzle, const typename P::position& at,
                                                  const typename P::move& by) {
  { puzzle.inverse(at, by) } -> std::convertible_to<typename P::move>;
};

/// A reversible puzzle that can name its goals, all of them, for bidirectional_search:
///
///     std::vector<position> goals() const;    // any range of positions
template <class P>
concept two_way_puzzle = reversible_puzzle<P> && requires(const P& puzzle) {
  { puzzle.goals() } -> std::ranges::input_range;
  requires std::convertible_to<std::ranges::range_reference_t<decltype(puzzle.goals())>,
                               typename P::position>;
};

/// A puzzle with a codec: searches keep `pack(at)` for each position that they have seen, and get
/// the position back by `unpack`. Two positions are equal if, and only if, what they are packed
/// into is equal.
///
///     std::uint64_t pack(const position& at) const;
///     position unpack(std::uint64_t packed) const;
template <class P>
concept packed_puzzle = puzzle<P> && requires(const P& puzzle, const typename P::position& at) {
  puzzle.pack(at);
  requires std::equality_comparable<std::remove_cvref_t<decltype(puzzle.pack(at))>>;
  requires std::copy_constructible<std::remove_cvref_t<decltype(puzzle.pack(at))>>;
  { puzzle.unpack(puzzle.pack(at)) } -> std::convertible_to<typename P::position>;
};

namespace detail {

/// What a position is kept as: packed if the puzzle has a codec, else as it is.
template <class P>
class kept_as {
 public:
  using type = typename P::position;
};
template <packed_puzzle P>
class kept_as<P> {
 public:
  using type = std::remove_cvref_t<decltype(std::declval<const P&>().pack(
      std::declval<const typename P::position&>()))>;
};
template <class P>
using kept_position = typename kept_as<P>::type;

/// A position in the form in which it is kept.
template <class P>
kept_position<P> keep(const P& puzzle, typename P::position at) {
  if constexpr (packed_puzzle<P>) {
    return puzzle.pack(at);
  } else {
    return at;
  }
}

/// The position again: a new one where it was packed, else the one that is kept.
template <class P>
std::conditional_t<packed_puzzle<P>, typename P::position, const typename P::position&> unkeep(
    const P& puzzle, const kept_position<P>& kept) {
  if constexpr (packed_puzzle<P>) {
    return puzzle.unpack(kept);
  } else {
    return kept;
  }
}

template <class P>
inline constexpr bool hashes_positions = requires(const P& puzzle, const typename P::position& at) {
  puzzle.hash(at);
} || requires(const typename P::position& at) { std::hash<typename P::position>{}(at); };

/// The position's hash with every bit depending on every bit: shard, slot and tag are cut out of
/// it. (The finaliser of SplitMix64, Steele, Lea, Flood 2014.) `packed` is hashed where there is no
/// other way.
template <class P, class Packed>
std::uint64_t mixed_hash(const P& puzzle, const typename P::position& at, const Packed& packed) {
  std::uint64_t bits;
  if constexpr (requires { puzzle.hash(at); }) {
    bits = static_cast<std::uint64_t>(puzzle.hash(at));
  } else if constexpr (hashes_positions<P>) {
    bits = static_cast<std::uint64_t>(std::hash<typename P::position>{}(at));
  } else {
    bits = static_cast<std::uint64_t>(std::hash<Packed>{}(packed));
  }
  return split_mix(bits);
}
template <class P>
std::uint64_t mixed_hash(const P& puzzle, const typename P::position& at) {
  if constexpr (hashes_positions<P>) {
    return mixed_hash(puzzle, at, at);
  } else {
    return mixed_hash(puzzle, at, puzzle.pack(at));
  }
}

}  // namespace detail
}  // namespace tandem::inline v0
