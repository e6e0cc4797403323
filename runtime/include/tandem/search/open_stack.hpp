// open_stack.hpp: the open positions of a depth-first walk, and how they are shared out.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <tandem/search/search_memory.hpp>

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

}  // namespace tandem::inline v0::detail
