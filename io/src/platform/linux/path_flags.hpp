// path_flags.hpp: flags of actions on paths that only Linux has.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include "platform/unix/path_flags.hpp"

namespace tandem::inline v0::io::platform {

/// What file_status tells of.
inline constexpr unsigned status_mask = STATX_BASIC_STATS | STATX_BTIME;

inline unsigned rename_flags_of(int flags) noexcept {
  constexpr unsigned no_replace = 1;  // RENAME_NOREPLACE, which not every C library names
  return (flags & detail::replaces_nothing) != 0 ? no_replace : 0;
}

}  // namespace tandem::inline v0::io::platform
