// shared_transfer.cpp: no call can be told not to wait, and only terminals have a name to be opened by.
// SPDX-License-Identifier: MIT
#include "platform/unix/shared_transfer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

namespace tandem::inline v0::io::platform {

ssize_t transfer_at_once(bool, int, void*, std::size_t) noexcept {
  errno = EOPNOTSUPP;
  return -1;
}

int open_anew(int descriptor, int flags) noexcept {
  // Another open of the master's end of a pseudo terminal is another terminal. (What ptsname() says
  // is not looked at, so it does not matter that its text is everybody's.)
  if (::ptsname(descriptor) != nullptr) return -1;
  std::array<char, 256> path{};
  if (::ttyname_r(descriptor, path.data(), path.size()) != 0) return -1;
  const int made = ::open(path.data(), flags);
  if (made < 0) return -1;
  struct ::stat wanted{};
  struct ::stat found{};
  if (::fstat(descriptor, &wanted) == 0 && ::fstat(made, &found) == 0 &&
      wanted.st_rdev == found.st_rdev) {
    return made;
  }
  ::close(made);
  return -1;
}

/// What is ready for both at once is taken for one that always is.
result<bool> is_always_ready(int device) noexcept {
  pollfd asked{device, POLLIN | POLLOUT, 0};
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN) != 0 &&
         (asked.revents & POLLOUT) != 0;
}

}  // namespace tandem::inline v0::io::platform
