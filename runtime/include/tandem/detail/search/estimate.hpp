// estimate.hpp: what a puzzle says of costs, checked.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/puzzle.hpp>
#include <tandem/search/result.hpp>

namespace tandem::inline v0::detail {

[[noreturn]] TANDEM_API void throw_negative_estimate(std::int64_t estimate);
[[noreturn]] TANDEM_API void throw_bad_cost(std::int64_t cost);
[[noreturn]] TANDEM_API void throw_overestimate(std::uint64_t estimate, std::uint64_t real,
                                                std::size_t step, std::size_t steps);

/// The puzzle's estimate as it stands, 0 if it has none: `unreachable` or anything above it where
/// no goal can be reached.
///
/// @throws              puzzle_error: it is below 0
template <puzzle P>
TANDEM_ALWAYS_INLINE std::uint64_t raw_estimate(const P& puzzle, const typename P::position& at) {
  if constexpr (guided_puzzle<P>) {
    const auto said = puzzle.heuristic(at);
    using number = std::remove_cvref_t<decltype(said)>;
    if constexpr (std::is_unsigned_v<number>) {
      return said;
    } else {
      const auto wide = static_cast<std::int64_t>(said);
      if (wide < 0) [[unlikely]]
        throw_negative_estimate(wide);
      return static_cast<std::uint64_t>(wide);
    }
  } else {
    static_assert(
        !requires(P& other) { other.heuristic(at); },
        "the puzzle's heuristic() has to be const, and give an integer");
    return 0;
  }
}

/// The puzzle's estimate, `unreachable` at most.
///
/// @throws              puzzle_error: it is below 0
template <puzzle P>
search_cost estimate(const P& puzzle, const typename P::position& at) {
  const std::uint64_t said = raw_estimate(puzzle, at);
  return said < unreachable ? static_cast<search_cost>(said) : unreachable;
}

/// What a move costs.
///
/// @throws              puzzle_error: not in 1 .. unreachable - 1
template <puzzle P>
search_cost cost_of(const P& puzzle, const typename P::position& at, const typename P::move& by) {
  if constexpr (weighted_puzzle<P>) {
    const auto said = static_cast<std::int64_t>(puzzle.cost(at, by));
    if (said < 1 || said >= std::int64_t{unreachable}) [[unlikely]]
      throw_bad_cost(said);
    return static_cast<search_cost>(said);
  } else {
    static_assert(
        !requires(P& other) { other.cost(at, by); },
        "the puzzle's cost() has to be const, and give an integer");
    return 1;
  }
}

/// Goes one move on. Positions need not be assignable.
template <puzzle P>
void go_on(const P& puzzle, std::optional<typename P::position>& at, const typename P::move& by) {
  typename P::position next = puzzle.apply(*at, by);
  at.emplace(std::move(next));
}

/// The sum of the costs along a path.
template <puzzle P>
std::uint64_t cost_of_path(const P& puzzle, const std::vector<typename P::move>& path) {
  if constexpr (weighted_puzzle<P>) {
    std::uint64_t sum = 0;
    std::optional<typename P::position> at(puzzle.initial());
    for (const auto& by : path) {
      sum += cost_of(puzzle, *at, by);
      go_on(puzzle, at, by);
    }
    return sum;
  } else {
    return path.size();
  }
}

/// Looks at each position of a path of cost `cost`: an estimate above what the rest costs is too
/// high, and the path perhaps not the cheapest.
///
/// @throws              puzzle_error: names the step
template <guided_puzzle P>
void check_estimates(const P& puzzle, const std::vector<typename P::move>& path,
                     std::uint64_t cost) {
  std::optional<typename P::position> at(puzzle.initial());
  for (std::size_t step = 0;; ++step) {
    const search_cost said = estimate(puzzle, *at);
    if (said > cost) throw_overestimate(said, cost, step, path.size());
    if (step == path.size()) return;
    cost -= cost_of(puzzle, *at, path[step]);
    go_on(puzzle, at, path[step]);
  }
}

}  // namespace tandem::inline v0::detail
