// path_calls.cpp: calls on paths as only Linux has them.
// SPDX-License-Identifier: MIT
#include "platform/unix/path_calls.hpp"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "platform/directories.hpp"
#include "platform/linux/path_flags.hpp"
#include "platform/unix/entry_kind.hpp"

namespace tandem::inline v0::io::platform {

int status_at(int folder, const char* path, int flags, void* answer) noexcept {
  return ::statx(folder, path, status_flags_of(flags), status_mask,
                 static_cast<struct ::statx*>(answer));
}

int rename_at(int from_folder, const char* from, int to_folder, const char* to,
              int flags) noexcept {
  // Not by the C library's function, which musl has none of.
  return static_cast<int>(
      ::syscall(SYS_renameat2, from_folder, from, to_folder, to, rename_flags_of(flags)));
}

namespace {

/// As the kernel writes them.
struct raw_entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  unsigned char type;
  char name[1];
};

}  // namespace

std::int32_t read_entries(native_descriptor directory, detail::entry_list& entries) noexcept {
  // Some two thousand entries a call.
  alignas(raw_entry) std::array<std::byte, std::size_t{64} << 10> room;
  const long got = ::syscall(SYS_getdents64, directory, room.data(), room.size());
  // Of one that somebody has removed meanwhile: nothing is left in it.
  if (got < 0) return errno == ENOENT ? 0 : -errno;
  try {
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      const auto& each = *reinterpret_cast<const raw_entry*>(room.data() + at);  // NOLINT
      at += each.bytes;
      const std::string_view name(each.name, std::strlen(each.name));
      if (name == "." || name == "..") continue;
      entries.add(name, kind_of_entry(directory, each.name, each.type), each.inode);
    }
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
  return got > 0 ? 1 : 0;
}

}  // namespace tandem::inline v0::io::platform
