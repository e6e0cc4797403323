// file_outcome.hpp: the answer of a call on a file, as rings tell it.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>

namespace tandem::inline v0::io::platform {

/// Of a call that answers with -1 and errno.
inline std::int32_t file_outcome_of(ssize_t answer) noexcept {
  return answer >= 0 ? static_cast<std::int32_t>(answer) : -errno;
}

}  // namespace tandem::inline v0::io::platform
