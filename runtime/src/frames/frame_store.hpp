// frame_store.hpp: batches of frames between the magazines of threads and the slabs.
// SPDX-License-Identifier: MIT
//
// The store keeps at most 32 batches of a class and gives the rest back to the slabs. It holds
// addresses, not a list through the blocks: what one thread makes and another one frees would cost
// a cache miss more for each block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "frames/no_magazine.hpp"

namespace tandem::inline v0::detail {

/// Half a magazine.
inline constexpr std::size_t frame_batch = magazine_entries / 2;

/// Into an empty magazine. @returns false if there is no memory
bool take_batch(std::size_t index, void**& end) noexcept;
/// The newest of a full magazine.
void give_batch(std::size_t index, void**& end) noexcept;
/// So many blocks of the class, past the store.
void give_to_slabs(std::size_t index, void* const* first, std::size_t count) noexcept;

/// Something comes back, or has since the store was trimmed last. Relaxed: whoever lies down next
/// looks.
void note_news() noexcept;
bool has_news() noexcept;

/// trim/give_back. All of the store, and what is unused of the slabs, in parts.
/// @returns  whether there is more
bool trim_store() noexcept;
/// trim/nobody_runs. Slabs alone, once so many are unused that it is worth a system call.
void trim_stale_slabs() noexcept;
/// How often all was trimmed.
std::uint64_t count_store_trims() noexcept;

/// Around a fork(), which must not copy the store while another thread changes it.
void lock_frame_store() noexcept;
void unlock_frame_store() noexcept;

}  // namespace tandem::inline v0::detail
