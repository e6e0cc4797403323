// files.cpp: flags, descriptors and status of files.
// SPDX-License-Identifier: MIT
#include "platform/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>

namespace tandem::inline v0::io::platform {

int open_flags(const open_options& options) noexcept {
  // O_NOCTTY: a terminal that is opened is not to become the process's own. O_NONBLOCK: rings do
  // not wait for the other end of a pipe anyway, if they find it at once; so nobody does.
  int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  switch (options.mode) {
    case open_mode::read: flags |= O_RDONLY; break;
    case open_mode::write: flags |= O_WRONLY; break;
    case open_mode::read_write: flags |= O_RDWR; break;
  }
  if (options.create) flags |= O_CREAT;
  if (options.create && options.exclusive) flags |= O_EXCL;
  if (options.truncate) flags |= O_TRUNC;
  if (options.append) flags |= O_APPEND;
  if (options.direct) flags |= O_DIRECT;
  return flags;
}

void settle_opened(native_descriptor file, const open_options& options) noexcept {
  constexpr int settable = O_APPEND | O_DIRECT;
  (void)::fcntl(file, F_SETFL, open_flags(options) & settable);
}

std::error_code adopt_file(native_descriptor file, bool& is_direct) noexcept {
  const int flags = ::fcntl(file, F_GETFD);
  const int status = ::fcntl(file, F_GETFL);
  if (flags < 0 || status < 0 || ::fcntl(file, F_SETFL, status & ~O_NONBLOCK) != 0 ||
      ::fcntl(file, F_SETFD, flags | FD_CLOEXEC) != 0) {
    return {errno, std::generic_category()};
  }
  is_direct = (status & O_DIRECT) != 0;
  return {};
}

bool has_no_disk(native_descriptor file) noexcept {
  // Only files in memory can be sealed. (fstatfs() would ask the server of a network's file system.)
  return ::fcntl(file, F_GET_SEALS) >= 0;
}

std::size_t direct_io_alignment_of(native_descriptor file) noexcept {
  constexpr std::size_t usual = 4096;
#ifdef STATX_DIOALIGN
  struct ::statx answer{};
  // Since 6.1; others leave the fields alone.
  if (::statx(file, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_DIOALIGN, &answer) == 0 &&
      (answer.stx_mask & STATX_DIOALIGN) != 0 && answer.stx_dio_offset_align != 0) {
    return std::max<std::size_t>(answer.stx_dio_mem_align, answer.stx_dio_offset_align);
  }
#endif
  return usual;
}

std::size_t size_hint(native_descriptor file) noexcept {
  struct ::statx known{};
  constexpr int without_waiting = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (::statx(file, "", without_waiting, STATX_SIZE, &known) != 0) return 0;
  return static_cast<std::size_t>(known.stx_size);
}

file_status status_from(const void* answer) noexcept {
  static_assert(sizeof(struct ::statx) <= status_bytes && alignof(struct ::statx) <= 8);
  const auto& found = *static_cast<const struct ::statx*>(answer);
  file_status made;
  made.size = found.stx_size;
  made.allocated_bytes = found.stx_blocks * 512;
  switch (found.stx_mode & S_IFMT) {
    case S_IFREG: made.kind = file_kind::regular; break;
    case S_IFDIR: made.kind = file_kind::directory; break;
    case S_IFLNK: made.kind = file_kind::symlink; break;
    case S_IFBLK: made.kind = file_kind::block; break;
    case S_IFCHR: made.kind = file_kind::character; break;
    case S_IFIFO: made.kind = file_kind::fifo; break;
    case S_IFSOCK: made.kind = file_kind::socket; break;
    default: made.kind = file_kind::other;
  }
  made.permissions = found.stx_mode & 07777U;
  using clock = std::chrono::system_clock;
  made.modified = clock::time_point(std::chrono::duration_cast<clock::duration>(
      std::chrono::seconds(found.stx_mtime.tv_sec) +
      std::chrono::nanoseconds(found.stx_mtime.tv_nsec)));
  made.device = (std::uint64_t{found.stx_dev_major} << 32) | found.stx_dev_minor;
  made.inode = found.stx_ino;
  made.links = found.stx_nlink;
  return made;
}

}  // namespace tandem::inline v0::io::platform
