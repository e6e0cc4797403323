// open_beneath.cpp: a walk, since no call of POSIX keeps a path beneath a folder.
// SPDX-License-Identifier: MIT
#include "platform/open_beneath.hpp"

#include "platform/unix/beneath_walk.hpp"

namespace tandem::inline v0::io::platform {

std::int32_t open_beneath(native_descriptor root, const char* path, int flags,
                          unsigned permissions) noexcept {
  return walk_beneath(root, path, flags, permissions);
}

}  // namespace tandem::inline v0::io::platform
