// frame_slabs.hpp: where the blocks of the frame magazines come from, and where they go after a burst.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace tandem::inline v0::detail {

/// A free block.
struct frame_block {
  frame_block* next;
};

/// @returns  a chain of 1 to `most` blocks of the class; null if there is no memory
frame_block* take_from_slabs(std::size_t index, std::size_t most) noexcept;
/// Gives a chain of blocks of the class back.
void give_to_slabs(std::size_t index, frame_block* chain) noexcept;

/// Gives back what classes keep, and pages as trim_regions() does. One thread at a time.
/// @returns  whether there is more
bool trim_slabs() noexcept;

/// Around a fork().
void lock_slabs() noexcept;
void unlock_slabs() noexcept;

}  // namespace tandem::inline v0::detail
