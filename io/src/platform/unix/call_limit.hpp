// call_limit.hpp: what one call moves at most.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

namespace tandem::inline v0::io::platform {

/// The kernel moves no more at once (MAX_RW_COUNT); a ring's entry and an outcome hold 32 bits.
/// More is no error: the rest is asked for again.
inline constexpr std::size_t call_bytes = 0x7ffff000;

inline std::size_t capped(std::size_t bytes) noexcept { return std::min(bytes, call_bytes); }

}  // namespace tandem::inline v0::io::platform
