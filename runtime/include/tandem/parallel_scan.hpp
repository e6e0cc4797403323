// parallel_scan.hpp: running sums of a range, in parallel.
// SPDX-License-Identifier: MIT
//
// Named after std::inclusive_scan and std::exclusive_scan; how the work is shared stands in
// detail/scan.hpp. The operation has to be associative, but need not be commutative.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <tandem/detail/algorithm_awaiter.hpp>
#include <tandem/detail/item_source.hpp>
#include <tandem/detail/scan.hpp>

namespace tandem::inline v0 {

namespace detail {

template <bool Inclusive, class T, class Source, class Output, class Operation>
auto make_scan(Source source, Output output, std::optional<T> before, Operation&& operation,
               std::size_t grain) {
  static_assert(safe_in_co_await<Operation&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto operation = [...]...;), or capture by reference");
  static_assert(std::is_invocable_r_v<T, const std::decay_t<Operation>&, T, T>,
                "operation(T, T) has to yield a T, and be callable while const");
  static_assert(std::copy_constructible<T>, "each sum is both written and carried on: T is copied");
  static_assert(alignof(T) <= 16 && alignof(std::decay_t<Operation>) <= 16,
                "nothing in a coroutine frame may be aligned over 16 bytes (g++ 12)");
  using algorithm = scan<Inclusive, Source, Output, T, std::decay_t<Operation>>;
  return algorithm_awaiter<algorithm>(
      algorithm(std::move(source), std::move(output), std::move(before),
                std::decay_t<Operation>(std::forward<Operation>(operation)), grain));
}

}  // namespace detail

/// Writes to `output` the sum of each item of [first, last) and all that precede it.
///
///     std::vector<int> ends(sizes.size());
///     co_await tandem::parallel_inclusive_scan(sizes.begin(), sizes.end(), ends.begin());
///     co_await tandem::parallel_exclusive_scan(sizes, sizes.begin(), 0);  // in place
///
/// @param output     a random-access iterator; may be `first`, else the ranges must not overlap
/// @param operation  associative; called from several threads at once
///                   Sums have the input's value type; for a wider one take the exclusive scan
/// @param grain      items of a tile; 0: measured. There is no initial value here
/// @returns          the end of the output
/// @throws           the first failure by time, after all pieces have ended; operation_cancelled if
///                   pieces were left out because of a stop. The output is then partly written
/// @cancellation     noticed between tiles
/// @resumes_on       the caller's home; the pieces run at the same home
/// @cost             some 5 us of work: none. On one worker one pass; p of them do less than two in
///                   all: at best 1.5 times the speed on two. An allocation for the tiles' sums
template <std::random_access_iterator Iterator, std::random_access_iterator Output,
          class Operation = std::plus<>>
auto parallel_inclusive_scan(Iterator first, Iterator last, Output output,
                             Operation&& operation = {}, std::size_t grain = 0) {
  return detail::make_scan<true, std::iter_value_t<Iterator>>(
      detail::make_source(std::move(first), std::move(last)), std::move(output),
      std::optional<std::iter_value_t<Iterator>>(), std::forward<Operation>(operation), grain);
}

/// Writes to `output` the sum of `initial` and all items that precede each item of [first, last).
template <std::random_access_iterator Iterator, std::random_access_iterator Output, class T,
          class Operation = std::plus<>>
auto parallel_exclusive_scan(Iterator first, Iterator last, Output output, T&& initial,
                             Operation&& operation = {}, std::size_t grain = 0) {
  return detail::make_scan<false, std::decay_t<T>>(
      detail::make_source(std::move(first), std::move(last)), std::move(output),
      std::optional<std::decay_t<T>>(std::forward<T>(initial)), std::forward<Operation>(operation),
      grain);
}

/// As above, for a range, which has to outlive the await: a named one, or a view.
template <detail::shared_out_range Range, std::random_access_iterator Output,
          class Operation = std::plus<>>
auto parallel_inclusive_scan(Range&& range, Output output, Operation&& operation = {},
                             std::size_t grain = 0) {
  using value = std::ranges::range_value_t<Range>;
  return detail::make_scan<true, value>(detail::make_range_source(range), std::move(output),
                                        std::optional<value>(), std::forward<Operation>(operation),
                                        grain);
}
template <detail::shared_out_range Range, std::random_access_iterator Output, class T,
          class Operation = std::plus<>>
auto parallel_exclusive_scan(Range&& range, Output output, T&& initial, Operation&& operation = {},
                             std::size_t grain = 0) {
  return detail::make_scan<false, std::decay_t<T>>(
      detail::make_range_source(range), std::move(output),
      std::optional<std::decay_t<T>>(std::forward<T>(initial)), std::forward<Operation>(operation),
      grain);
}

}  // namespace tandem::inline v0
