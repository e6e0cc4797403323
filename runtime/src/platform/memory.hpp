// memory.hpp: pages from the system, and back.
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
/// The whole pages of [from, to) go back to the system; what is written there afterwards gets fresh
/// ones, all zero.
///
/// pre: map_memory() has given them, and nothing of them is needed
void release_pages(void* from, void* to) noexcept;
/// A hint: much of this memory will be used. pre: aligned to 2 MiB, given by map_memory()
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace tandem::inline v0::platform
