// file_kind.hpp: what a file is, from its mode.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <tandem/io/file_status.hpp>

namespace tandem::inline v0::io::platform {

inline file_kind kind_of(unsigned mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFREG: return file_kind::regular;
    case S_IFDIR: return file_kind::directory;
    case S_IFLNK: return file_kind::symlink;
    case S_IFBLK: return file_kind::block;
    case S_IFCHR: return file_kind::character;
    case S_IFIFO: return file_kind::fifo;
    case S_IFSOCK: return file_kind::socket;
    default: return file_kind::other;
  }
}

/// Since 1970.
inline std::chrono::system_clock::time_point unix_moment(std::int64_t seconds,
                                                         std::int64_t nanoseconds) noexcept {
  using clock = std::chrono::system_clock;
  return clock::time_point(std::chrono::duration_cast<clock::duration>(
      std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanoseconds)));
}

inline constexpr unsigned permission_bits = 07777;

}  // namespace tandem::inline v0::io::platform
