// path_calls.cpp: calls on paths by POSIX.
// SPDX-License-Identifier: MIT
#include "platform/unix/path_calls.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string_view>

#include "platform/directories.hpp"
#include "platform/unix/entry_kind.hpp"
#include "platform/unix/path_flags.hpp"

namespace tandem::inline v0::io::platform {

int status_at(int folder, const char* path, int flags, void* answer) noexcept {
  return ::fstatat(folder, path, static_cast<struct ::stat*>(answer), status_flags_of(flags));
}

int rename_at(int from_folder, const char* from, int to_folder, const char* to,
              int flags) noexcept {
  if ((flags & detail::replaces_nothing) == 0) return ::renameat(from_folder, from, to_folder, to);
  // A second name for it, which no system makes where there is one, instead of the first. A
  // directory has one name only.
  if (::linkat(from_folder, from, to_folder, to, 0) != 0) {
    if (errno == EPERM) errno = ENOTSUP;
    return -1;
  }
  // What somebody else has given the old name to meanwhile keeps it, as if that had been later.
  struct ::stat old_name{};
  struct ::stat new_name{};
  if (status_at(from_folder, from, 0, &old_name) == 0 &&
      status_at(to_folder, to, 0, &new_name) == 0) {
    const bool is_same = old_name.st_dev == new_name.st_dev && old_name.st_ino == new_name.st_ino;
    if (!is_same || ::unlinkat(from_folder, from, 0) == 0) return 0;
  }
  const int error = errno;
  (void)::unlinkat(to_folder, to, 0);  // else it would have two names, though the rename failed
  errno = error;
  return -1;
}

std::int32_t read_entries(native_descriptor directory, detail::entry_list& entries) noexcept {
  // The library's reader takes a descriptor over, so it gets one of its own; and all of it is read
  // at once.
  const int own = ::openat(directory, ".", listing_flags_of(0));
  // Of one that somebody has removed meanwhile: nothing is left in it.
  if (own < 0) return errno == ENOENT ? 0 : -errno;
  DIR* const reader = ::fdopendir(own);
  if (reader == nullptr) {
    const int error = errno;
    ::close(own);
    return -error;
  }
  std::int32_t outcome = 0;
  try {
    errno = 0;
    while (const dirent* const each = ::readdir(reader)) {
      const std::string_view name(each->d_name);
      if (name != "." && name != "..") {
#if defined(DT_DIR)
        const unsigned char type = each->d_type;
#else
        const unsigned char type = 0;
#endif
        entries.add(name, kind_of_entry(directory, each->d_name, type), each->d_ino);
      }
      errno = 0;
    }
    outcome = errno == ENOENT ? 0 : -errno;
  } catch (const std::bad_alloc&) {
    outcome = -ENOMEM;
  }
  ::closedir(reader);
  return outcome;
}

}  // namespace tandem::inline v0::io::platform
