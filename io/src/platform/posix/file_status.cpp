// file_status.cpp: what fstat() tells of an open file.
// SPDX-License-Identifier: MIT
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "platform/files.hpp"
#include "platform/unix/file_kind.hpp"

namespace tandem::inline v0::io::platform {

namespace {

std::chrono::system_clock::time_point moment_of(const timespec& at) noexcept {
  return unix_moment(at.tv_sec, at.tv_nsec);
}

}  // namespace

bool has_no_disk(native_descriptor) noexcept { return false; }  // nobody tells

std::size_t direct_io_alignment_of(native_descriptor) noexcept { return 4096; }

std::size_t size_hint(native_descriptor file) noexcept {
  struct ::stat known{};
  if (::fstat(file, &known) != 0) return 0;
  return static_cast<std::size_t>(std::max<off_t>(known.st_size, 0));
}

file_status status_from(const void* answer) noexcept {
  static_assert(sizeof(struct ::stat) <= status_bytes && alignof(struct ::stat) <= 8);
  const auto& found = *static_cast<const struct ::stat*>(answer);
  file_status made;
  made.size = static_cast<std::uint64_t>(found.st_size);
  made.allocated_bytes = static_cast<std::uint64_t>(found.st_blocks) * 512;
  made.kind = kind_of(found.st_mode);
  made.permissions = found.st_mode & permission_bits;
#if defined(__APPLE__)
  made.modified = moment_of(found.st_mtimespec);
  made.changed = moment_of(found.st_ctimespec);
  made.accessed = moment_of(found.st_atimespec);
  made.created = moment_of(found.st_birthtimespec);
#else
  made.modified = moment_of(found.st_mtim);
  made.changed = moment_of(found.st_ctim);
  made.accessed = moment_of(found.st_atim);
#endif
  made.owner = found.st_uid;
  made.group = found.st_gid;
  made.device = static_cast<std::uint64_t>(found.st_dev);
  made.inode = static_cast<std::uint64_t>(found.st_ino);
  made.links = static_cast<decltype(made.links)>(found.st_nlink);
  return made;
}

}  // namespace tandem::inline v0::io::platform
