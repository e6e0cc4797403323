// path_flags.hpp: what the system calls a folder, and the flags of an action on a path.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>

#include <tandem/io/detail/path_request.hpp>

namespace tandem::inline v0::io::platform {

inline int folder_of(native_descriptor folder) noexcept {
  return detail::is_descriptor(folder) ? folder : AT_FDCWD;
}
inline int status_flags_of(int flags) noexcept {
  return (flags & detail::follows_links) != 0 ? 0 : AT_SYMLINK_NOFOLLOW;
}
inline int remove_flags_of(int flags) noexcept {
  return (flags & detail::names_directory) != 0 ? AT_REMOVEDIR : 0;
}

/// To list it. A path that ends in a link is followed only if `flags` say so.
inline int listing_flags_of(int flags) noexcept {
  const int follows = (flags & detail::follows_links) != 0 ? 0 : O_NOFOLLOW;
  return O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | follows;
}

}  // namespace tandem::inline v0::io::platform
