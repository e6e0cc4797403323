// entry_kind.hpp: what an entry of a directory is, from what the directory tells, or by asking.
// SPDX-License-Identifier: MIT
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "platform/unix/file_kind.hpp"

namespace tandem::inline v0::io::platform {

/// Where the directory does not tell. One that has gone meanwhile is "other".
inline file_kind asked_kind(int directory, const char* name) noexcept {
  struct ::stat found{};
  const int answer = ::fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW);
  return answer == 0 ? kind_of(found.st_mode) : file_kind::other;
}

/// @param type  as readdir() tells it: not every file system knows
inline file_kind kind_of_entry(int directory, const char* name,
                               [[maybe_unused]] unsigned char type) noexcept {
#if defined(DT_DIR)
  switch (type) {
    case DT_REG: return file_kind::regular;
    case DT_DIR: return file_kind::directory;
    case DT_LNK: return file_kind::symlink;
    case DT_BLK: return file_kind::block;
    case DT_CHR: return file_kind::character;
    case DT_FIFO: return file_kind::fifo;
    case DT_SOCK: return file_kind::socket;
    default: break;
  }
#endif
  return asked_kind(directory, name);
}

}  // namespace tandem::inline v0::io::platform
