// socket_side.hpp: the two sides of a socket, each of which one operation occupies at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tandem::inline v0::io::detail {

/// What may be under way beside what on a socket: one operation of each side.
enum class socket_side : std::uint8_t { taking, giving, none };

}  // namespace tandem::inline v0::io::detail
