// file_commands.cpp: posix_fadvise(), and locks of open file descriptions.
// SPDX-License-Identifier: MIT
#include "platform/unix/file_commands.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "platform/files.hpp"

namespace tandem::inline v0::io::platform {

std::int32_t advise([[maybe_unused]] int file, [[maybe_unused]] std::uint64_t offset,
                    [[maybe_unused]] std::size_t bytes, [[maybe_unused]] int how) noexcept {
#if defined(POSIX_FADV_NORMAL)
  return -::posix_fadvise(file, static_cast<off_t>(offset), static_cast<off_t>(bytes), how);
#else
  return 0;
#endif
}

std::int32_t set_lock([[maybe_unused]] int file, [[maybe_unused]] std::uint64_t offset,
                      [[maybe_unused]] std::uint64_t bytes, [[maybe_unused]] int how) noexcept {
#if defined(F_OFD_SETLK)
  struct ::flock wanted{};
  wanted.l_type = F_UNLCK;
  if (how == locks_shared) wanted.l_type = F_RDLCK;
  if (how == locks_exclusive) wanted.l_type = F_WRLCK;
  // As a number of the system's a larger one is negative, which means bytes before the offset.
  constexpr auto last = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (offset > last) return -EINVAL;
  const std::uint64_t size = bytes > last - offset ? 0 : bytes;  // 0: to the end
  wanted.l_whence = SEEK_SET;
  wanted.l_start = static_cast<off_t>(offset);
  wanted.l_len = static_cast<off_t>(size);
  if (::fcntl(file, F_OFD_SETLK, &wanted) == 0) return 0;
  return errno == EACCES ? -EAGAIN : -errno;
#else
  return -ENOTSUP;
#endif
}

void unlock(native_descriptor file, std::uint64_t offset, std::uint64_t bytes) noexcept {
  (void)set_lock(file, offset, bytes, unlocks);
}

}  // namespace tandem::inline v0::io::platform
