// frame_regions.hpp: pages for frames, in regions that are cut into slabs.
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

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::inline v0::detail {

struct frame_block;

inline constexpr auto relaxed =
    std::memory_order_relaxed;  // of this room: counts, and what a lock guards
inline constexpr std::size_t region_bytes = std::size_t{2} << 20;
inline constexpr std::size_t slabs_per_region = 64;
inline constexpr std::size_t slab_bytes = region_bytes / slabs_per_region;

/// In the list of its class while it has a free block and is in use.
struct frame_slab {
  frame_slab* next;
  frame_slab* previous;
  frame_block* free;     // blocks that have come back
  std::uint32_t fresh;   // offset in the region of what was never handed out
  std::uint32_t end;     // offset of the slab's end
  std::uint32_t used;    // blocks that are out
  std::uint32_t listed;  // 1: in the list
};

/// In the list of regions while it has a free slab and is not being trimmed.
struct frame_region {
  frame_region* next;
  frame_region* previous;
  std::uint64_t free_slabs;   // a bit each
  std::uint64_t stale_slabs;  // free ones that may have pages
  bool is_trimmed;            // trim_slabs() has it
  std::array<frame_slab, slabs_per_region> slabs;
};

template <class Node>
void push_front(Node*& list, Node& node) noexcept {
  node.previous = nullptr;
  node.next = list;
  if (list != nullptr) list->previous = &node;
  list = &node;
}

template <class Node>
void unlink(Node*& list, Node& node) noexcept {
  (node.previous != nullptr ? node.previous->next : list) = node.next;
  if (node.next != nullptr) node.next->previous = node.previous;
}

inline frame_region& region_of(const void* inside) noexcept {
  return *reinterpret_cast<frame_region*>(reinterpret_cast<std::uintptr_t>(inside) &  // NOLINT
                                          ~std::uintptr_t{region_bytes - 1});
}

inline std::size_t slab_number(const void* block) noexcept {
  return reinterpret_cast<std::uintptr_t>(block) % region_bytes / slab_bytes;  // NOLINT
}

/// @returns  one without a used block; null if there is no memory
frame_slab* take_slab() noexcept;
/// It has no used block, and is in no list.
void give_slab(frame_slab& unused) noexcept;

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
bool trim_regions() noexcept;

struct slab_counts {
  std::size_t mapped_bytes = 0;
  std::uint64_t system_calls = 0;  // to get memory, and to give it back
};
slab_counts count_slabs() noexcept;

/// Around a fork().
void lock_regions() noexcept;
void unlock_regions() noexcept;

}  // namespace tandem::inline v0::detail
