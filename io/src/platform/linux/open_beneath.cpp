// open_beneath.cpp: openat2(), else a walk that is as strict.
// SPDX-License-Identifier: MIT
#include "platform/open_beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "platform/unix/beneath_walk.hpp"

namespace tandem::inline v0::io::platform {

namespace {

constexpr unsigned all_permissions = 07777;
/// Answers of EAGAIN (a rename while ".." was looked at) after which the walk has its turn.
constexpr int most_attempts = 16;

std::int32_t open_by_kernel(int root, const char* path, int flags, unsigned permissions) noexcept {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  // open() leaves out of account what this call refuses: a mode without O_CREAT, and further bits
  // in it, as stat() gives them.
  how.mode = (flags & O_CREAT) != 0 ? permissions & all_permissions : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long answer = ::syscall(SYS_openat2, root, path, &how, sizeof how);
  return answer >= 0 ? static_cast<std::int32_t>(answer) : -errno;
}

}  // namespace

std::int32_t open_beneath(native_descriptor root, const char* path, int flags,
                          unsigned permissions) noexcept {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const std::int32_t outcome = open_by_kernel(root, path, flags, permissions);
    if (outcome == -EAGAIN) continue;
    // Filters of containers that do not know the call answer EPERM. If the file itself is refused
    // so, the walk hears it, too.
    if (outcome != -ENOSYS && outcome != -EPERM) return outcome;
    break;
  }
  return walk_beneath(root, path, flags, permissions);
}

}  // namespace tandem::inline v0::io::platform
