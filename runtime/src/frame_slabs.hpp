// frame_slabs.hpp: where the blocks of the frame magazines come from, and where they go after a burst.
// SPDX-License-Identifier: MIT
//
// Regions of 2 MiB, each cut into 64 slabs; a slab holds blocks of one size, without a header
// between them. What is known of a slab stands at the start of its region, so that a block's
// address leads to it and handing out blocks touches few lines. A slab without a used block goes
// back to its region, a region without a used slab to the system. From the second region on huge
// pages are asked for: a million waiting tasks cost 300 page faults then, and few TLB misses.
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

/// Around a fork().
void lock_slabs() noexcept;
void unlock_slabs() noexcept;

}  // namespace tandem::inline v0::detail
