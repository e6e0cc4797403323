// memory.hpp: pages from the system, aligned pieces of the heap, and back.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace tandem::inline v0::platform {

/// Memory of the system's own, all zero.
///
/// pre: `bytes` is a power of two and a multiple of a page
/// post: aligned to `bytes`; null if there is none
void* map_memory(std::size_t bytes) noexcept;
/// pre: exactly what map_memory(bytes) has given, and nobody uses any more
void unmap_memory(void* memory, std::size_t bytes) noexcept;
/// Memory of the heap, for what is small.
///
/// pre: `alignment` is a power of two, and `bytes` a multiple of it
/// post: null if there is none
void* allocate_aligned(std::size_t alignment, std::size_t bytes) noexcept;
/// pre: allocate_aligned() has given it, or it is null
void free_aligned(void* memory) noexcept;
/// The whole pages of [from, to) go back to the system; what is written there afterwards gets fresh
/// ones, all zero.
///
/// pre: map_memory() has given them, and nothing of them is needed
void release_pages(void* from, void* to) noexcept;
/// A hint: much of this memory will be used. pre: aligned to 2 MiB, given by map_memory()
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace tandem::inline v0::platform
