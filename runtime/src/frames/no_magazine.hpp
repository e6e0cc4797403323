// no_magazine.hpp: what thread_context::frames points behind before a thread has a magazine.
// SPDX-License-Identifier: MIT
//
// Nulls up to an aligned end: empty for whoever allocates, full for whoever frees. Nobody writes
// it.
#pragma once

#include <array>
#include <cstddef>

#include <tandem/detail/frame_memory.hpp>

namespace tandem::inline v0::detail {

inline constexpr std::size_t magazine_entries = magazine_bytes / sizeof(void*);

extern std::array<void*, magazine_entries> no_magazine;

constexpr void** no_magazine_end() noexcept { return no_magazine.data() + magazine_entries; }

}  // namespace tandem::inline v0::detail
