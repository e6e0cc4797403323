// kind_set.hpp: for tables with a row for each enumerator: their order, and the rows that say yes.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tandem::inline v0::io::detail {

/// Whether row i is that of enumerator i.
template <class Row, std::size_t Count, class Kind>
consteval bool is_in_order(const std::array<Row, Count>& rows, Kind Row::* kind) {
  for (std::size_t i = 0; i < Count; ++i) {
    if (static_cast<std::size_t>(rows[i].*kind) != i) return false;
  }
  return true;
}

/// The kinds of which a column says yes, one bit each: asking takes no load from the table, and
/// nothing at all where the kind is known.
template <class Kind>
class kind_set {
 public:
  constexpr kind_set() noexcept = default;  // none
  /// @param says  a member that is a bool, or a function of a row
  template <class Row, std::size_t Count, class Says>
  consteval kind_set(const std::array<Row, Count>& rows, Says says) {
    static_assert(Count <= 32);
    for (std::size_t i = 0; i < Count; ++i) {
      if (std::invoke(says, rows[i])) bits_ |= std::uint32_t{1} << i;
    }
  }

  constexpr void add(Kind kind) noexcept {
    bits_ |= std::uint32_t{1} << static_cast<unsigned>(kind);
  }
  constexpr bool has(Kind kind) const noexcept {
    return (bits_ >> static_cast<unsigned>(kind) & 1U) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};

}  // namespace tandem::inline v0::io::detail
