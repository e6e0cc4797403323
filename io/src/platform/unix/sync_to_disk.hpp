// sync_to_disk.hpp: fsync(), and what macOS has instead of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace tandem::inline v0::io::platform {

/// @returns  0, or -1 and errno
inline int sync_to_disk(int descriptor) noexcept {
#if defined(F_FULLFSYNC)
  // fsync() of macOS leaves it in the memory of the disk. Else of a file system that cannot.
  if (::fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
#endif
  return ::fsync(descriptor);
}

}  // namespace tandem::inline v0::io::platform
