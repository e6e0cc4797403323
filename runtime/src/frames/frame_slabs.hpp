// frame_slabs.hpp: where the blocks of the frame magazines come from, and where they go after a burst.
// SPDX-License-Identifier: MIT
//
// Regions of 2 MiB, each cut into 64 slabs; a slab holds blocks of one size, without a header
// between them. What is known of a slab stands at the start of its region, so that a block's
// address leads to it and handing out blocks touches few lines. A slab without a used block goes
// back to its region; of regions without a used slab eight stay while tasks run, the others go back
// to the system at once. What stays, and the pages of unused slabs, trim_slabs() gives back. From
// the second region on huge pages are asked for: a million waiting tasks cost 300 page faults then,
// and few TLB misses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::inline v0::detail {

/// A free block.
struct frame_block {
  frame_block* next;
};

/// @returns  a chain of 1 to `most` blocks of the class; null if there is no memory
frame_block* take_from_slabs(std::size_t index, std::size_t most) noexcept;
/// Gives a chain of blocks of the class back.
void give_to_slabs(std::size_t index, frame_block* chain) noexcept;

/// The store has been trimmed, and no thread of a runtime has asked it for anything since: nothing
/// stays any more. Relaxed, always: whoever misses a change keeps too much or too little for a
/// while.
extern std::atomic<bool> nobody_runs;
/// Whether there is so much that giving some back is worth a thought. A look.
bool has_many_slabs() noexcept;
/// As many slabs as fill a region are unused, and perhaps have pages. A look.
bool has_stale_region() noexcept;
/// Gives pages of what is unused back to the system, of some regions at a time; the first region
/// stays mapped. One thread at a time. @returns whether there is more
bool trim_slabs() noexcept;

struct slab_counts {
  std::size_t mapped_bytes = 0;
  std::uint64_t system_calls = 0;  // to get memory, and to give it back
};
slab_counts count_slabs() noexcept;

/// Around a fork().
void lock_slabs() noexcept;
void unlock_slabs() noexcept;

}  // namespace tandem::inline v0::detail
