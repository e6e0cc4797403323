// open_stack.hpp: the open positions of a depth-first walk, and how they are shared out.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <tandem/detail/search/search_memory.hpp>

namespace tandem::inline v0::detail {

/// Takes every second entry out, which halves every level of the tree below between the two: an
/// order by depth stays one, in both.
///
/// @param open          two entries or more; keeps the others
template <class Entry>
search_vector<Entry> split_open(search_vector<Entry>& open) {
  search_vector<Entry> given(open.get_allocator());
  search_vector<Entry> kept(open.get_allocator());
  given.reserve(open.size() / 2 + 1);
  kept.reserve(open.size() / 2);
  for (std::size_t i = 0; i < open.size(); ++i) {
    (i % 2 == 0 ? given : kept).push_back(std::move(open[i]));
  }
  open = std::move(kept);
  return given;
}

/// Turns round what lies above the first `below` entries. A recursion that ends leaves its deepest
/// positions first, and they have to be on top. Entries need not be assignable.
template <class Entry>
void turn_round(search_vector<Entry>& open, std::size_t below) {
  if constexpr (std::is_swappable_v<Entry>) {
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(below), open.end());
  } else {
    search_vector<Entry> turned(open.get_allocator());
    turned.reserve(open.capacity());
    for (std::size_t i = 0; i < below; ++i) turned.push_back(std::move(open[i]));
    for (std::size_t i = open.size(); i > below; --i) turned.push_back(std::move(open[i - 1]));
    open = std::move(turned);
  }
}

}  // namespace tandem::inline v0::detail
