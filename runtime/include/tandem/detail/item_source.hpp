// item_source.hpp: the items of a parallel algorithm: integers, or what iterators refer to.
// SPDX-License-Identifier: MIT
//
// The algorithms count items from 0; a source turns such a count into an item. Pieces of one call
// read one source at once, so it is never changed after its construction.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/partition.hpp>

namespace tandem::inline v0::detail {

/// The type in which a loop from an A to a B counts.
template <class A, class B>
using loop_integer = std::common_type_t<A, B>;

template <class T>
concept loop_bound = std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool>;

template <loop_bound I>
class integer_source {
 public:
  using position = I;
  using item_type = I;

  integer_source(I first, I last) noexcept : first_(first), last_(last) {}

  std::size_t size() const noexcept {
    if (last_ <= first_) return 0;
    return static_cast<std::size_t>(
        static_cast<bits>(static_cast<bits>(last_) - static_cast<bits>(first_)));
  }
  // In unsigned arithmetic: from the least to the greatest int is more than an int can count.
  I at(std::size_t index) const noexcept {
    return static_cast<I>(static_cast<bits>(static_cast<bits>(first_) + static_cast<bits>(index)));
  }
  I item(std::size_t index) const noexcept { return at(index); }

  template <class Visit>
  void each(std::size_t from, std::size_t to, Visit&& visit) const {
    const I end = at(to);
    for (I i = at(from); i != end; ++i) visit(i);
  }

 private:
  using bits = std::make_unsigned_t<I>;
  I first_;
  I last_;
};

template <std::random_access_iterator Iterator>
class iterator_source {
 public:
  using position = Iterator;
  using item_type = std::iter_reference_t<Iterator>;

  iterator_source(Iterator first, Iterator last) : first_(first), size_(count(last - first)) {}

  std::size_t size() const noexcept { return size_; }
  Iterator at(std::size_t index) const {
    return first_ + static_cast<std::iter_difference_t<Iterator>>(index);
  }
  item_type item(std::size_t index) const { return *at(index); }

  template <class Visit>
  void each(std::size_t from, std::size_t to, Visit&& visit) const {
    const Iterator end = at(to);
    for (Iterator i = at(from); i != end; ++i) visit(*i);
  }

 private:
  static std::size_t count(std::iter_difference_t<Iterator> distance) noexcept {
    return distance > 0 ? static_cast<std::size_t>(distance) : 0;
  }

  Iterator first_;
  std::size_t size_;
};

template <class A, class B>
  requires loop_bound<A> && loop_bound<B>
integer_source<loop_integer<A, B>> make_source(A first, B last) noexcept {
  using integer = loop_integer<A, B>;
  TANDEM_ASSERT(std::in_range<integer>(first) && std::in_range<integer>(last),
                "a bound of the loop does not fit the common type of both: give them one type");
  return integer_source<integer>(static_cast<integer>(first), static_cast<integer>(last));
}
template <std::random_access_iterator Iterator>
iterator_source<Iterator> make_source(Iterator first, Iterator last) {
  return iterator_source<Iterator>(std::move(first), std::move(last));
}

/// A range that outlives the call: an lvalue, or a view such as a span.
template <class Range>
concept shared_out_range = std::ranges::random_access_range<Range> &&
                           std::ranges::sized_range<Range> && std::ranges::borrowed_range<Range>;

template <shared_out_range Range>
auto make_range_source(Range&& range) {
  const auto first = std::ranges::begin(range);
  return make_source(first, first + std::ranges::distance(range));
}

/// Pieces call one object from several threads, so it has to be callable while const; a copy that
/// costs nothing lets the compiler keep its captures in registers.
template <class Callable>
using piece_callable =
    std::conditional_t<std::is_trivially_copyable_v<Callable> && sizeof(Callable) <= 64,
                       const Callable, const Callable&>;

/// A callable takes one item, or the bounds of a piece.
template <class Callable, class Source>
inline constexpr bool takes_item = std::invocable<const Callable&, typename Source::item_type>;
template <class Callable, class Source>
inline constexpr bool takes_piece =
    !takes_item<Callable, Source> &&
    std::invocable<const Callable&, typename Source::position, typename Source::position>;

template <class Callable, class Source>
auto callable_result() {
  if constexpr (takes_item<Callable, Source>) {
    return std::type_identity<std::invoke_result_t<const Callable&, typename Source::item_type>>();
  } else {
    return std::type_identity<std::invoke_result_t<const Callable&, typename Source::position,
                                                   typename Source::position>>();
  }
}
/// What a callable returns for an item, or for a piece.
template <class Callable, class Source>
using callable_result_t = typename decltype(callable_result<Callable, Source>())::type;

}  // namespace tandem::inline v0::detail
