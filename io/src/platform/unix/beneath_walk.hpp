// beneath_walk.hpp: open_beneath() by openat() and readlinkat().
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::platform {

/// As open_beneath() (platform/open_beneath.hpp), whatever calls the system has beside.
std::int32_t walk_beneath(native_descriptor root, const char* path, int flags,
                          unsigned permissions) noexcept;

}  // namespace tandem::inline v0::io::platform
