// elements_of.hpp: says in a generator or a stream: yield all of this, one after the other.
// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>
#include <utility>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// Operand of co_yield in a generator or a stream: hands out the elements of a range, of a
/// generator or (in a stream) of a stream, one after the other.
///
///     tandem::generator<const node&> below(const node& top) {
///       co_yield top;
///       for (const node& child : top.children) co_yield tandem::elements_of(below(child));
///     }
///
/// However deep they are nested, an item goes straight to whoever takes it.
/// (std::ranges::elements_of is of C++23.)
///
/// @tparam Range  a temporary is moved in, an lvalue referred to
template <class Range>
class elements_of {
 public:
  explicit elements_of(Range&& range) noexcept(std::is_nothrow_constructible_v<Range, Range&&>)
      : range_(static_cast<Range&&>(range)) {}

  // Implementation
  Range&& take() && noexcept { return static_cast<Range&&>(range_); }

 private:
  Range range_;
};

template <class Range>
elements_of(Range&&) -> elements_of<Range>;

}  // namespace tandem::inline v0
