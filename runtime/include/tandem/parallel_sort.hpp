// parallel_sort.hpp: sorts a range in parallel, in place.
// SPDX-License-Identifier: MIT
//
// A quicksort whose halves are forked; the first partitions, while there are fewer halves than
// workers, are shared out themselves. No buffer, no quadratic case. The serial parts:
// detail/quick_sort.hpp.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include <tandem/detail/algorithm_awaiter.hpp>
#include <tandem/detail/item_source.hpp>
#include <tandem/detail/sort.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class Iterator, class Compare, class Projection>
auto make_sort(Iterator first, Iterator last, Compare&& compare, Projection&& projection,
               std::size_t grain) {
  using compare_type = std::decay_t<Compare>;
  using projection_type = std::decay_t<Projection>;
  static_assert(safe_in_co_await<Compare&&> && safe_in_co_await<Projection&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto compare = [...]...;), or capture by reference");
  static_assert(
      std::sortable<Iterator, const compare_type&, const projection_type&>,
      "compare(projection(a), projection(b)) has to be an order of the elements, and both "
      "callable while const, since several threads call them at once");
  static_assert(alignof(compare_type) <= 16 && alignof(projection_type) <= 16,
                "nothing in a coroutine frame may be aligned over 16 bytes (g++ 12)");
  using less = projected_less<compare_type, projection_type>;
  using algorithm = sort<Iterator, less>;
  return algorithm_awaiter<algorithm>(
      algorithm(std::move(first), std::move(last),
                less(compare_type(std::forward<Compare>(compare)),
                     projection_type(std::forward<Projection>(projection))),
                grain));
}

}  // namespace detail

/// Sorts [first, last) by `compare`; equal elements may change their order.
///
///     co_await tandem::parallel_sort(values);
///     co_await tandem::parallel_sort(people.begin(), people.end(), std::less<>(), &person::age);
///
/// @param compare     a strict weak order, called from several threads at once
/// @param projection  what of an element is compared
/// @param grain       ranges of so many elements are sorted by one task; 0: measured
/// @throws            the first thing that a comparison throws, after all pieces have ended;
///                    operation_cancelled if pieces were left out because of a stop. In both cases
///                    the range holds its elements in some order. Moves and swaps must not throw
/// @cancellation      noticed between pieces
/// @resumes_on        the caller's home; the pieces run at the same home
/// @cost              O(n log n) comparisons at worst; O(log n) of stack, frames for the open
///                    halves
/// @source            see detail/quick_sort.hpp
template <std::random_access_iterator Iterator, class Compare = std::ranges::less,
          class Projection = std::identity>
auto parallel_sort(Iterator first, Iterator last, Compare&& compare = {},
                   Projection&& projection = {}, std::size_t grain = 0) {
  return detail::make_sort(std::move(first), std::move(last), std::forward<Compare>(compare),
                           std::forward<Projection>(projection), grain);
}

/// As above, for a range, which has to outlive the await: a named one, or a view.
template <detail::shared_out_range Range, class Compare = std::ranges::less,
          class Projection = std::identity>
auto parallel_sort(Range&& range, Compare&& compare = {}, Projection&& projection = {},
                   std::size_t grain = 0) {
  const auto first = std::ranges::begin(range);
  return detail::make_sort(first, first + std::ranges::distance(range),
                           std::forward<Compare>(compare), std::forward<Projection>(projection),
                           grain);
}

}  // namespace tandem::inline v0
