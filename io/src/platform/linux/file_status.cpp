// file_status.cpp: what Linux tells of an open file.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>

#include "platform/files.hpp"
#include "platform/unix/file_kind.hpp"

namespace tandem::inline v0::io::platform {

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
  made.kind = kind_of(found.stx_mode);
  made.permissions = found.stx_mode & permission_bits;
  const auto moment = [](const statx_timestamp& at) { return unix_moment(at.tv_sec, at.tv_nsec); };
  made.modified = moment(found.stx_mtime);
  made.changed = moment(found.stx_ctime);
  made.accessed = moment(found.stx_atime);
  if ((found.stx_mask & STATX_BTIME) != 0) made.created = moment(found.stx_btime);
  made.owner = found.stx_uid;
  made.group = found.stx_gid;
  made.device = (std::uint64_t{found.stx_dev_major} << 32) | found.stx_dev_minor;
  made.inode = found.stx_ino;
  made.links = found.stx_nlink;
  return made;
}

}  // namespace tandem::inline v0::io::platform
