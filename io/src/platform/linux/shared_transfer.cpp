// shared_transfer.cpp: calls that need not wait, and descriptions of our own, as Linux has them.
// SPDX-License-Identifier: MIT
#include "platform/unix/shared_transfer.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace tandem::inline v0::io::platform {

namespace {

/// Another open of the master's end of a pseudo terminal is another terminal.
bool is_master(int descriptor) noexcept {
  unsigned number = 0;
  return ::ioctl(descriptor, TIOCGPTN, &number) == 0;
}

bool are_the_same(int one, int other) noexcept {
  struct ::stat of_one{};
  struct ::stat of_other{};
  return ::fstat(one, &of_one) == 0 && ::fstat(other, &of_other) == 0 &&
         of_one.st_dev == of_other.st_dev && of_one.st_ino == of_other.st_ino;
}

bool are_the_same_terminal(int one, int other) noexcept {
  unsigned of_one = 0;
  unsigned of_other = 0;
  return ::ioctl(one, TIOCGDEV, &of_one) == 0 && ::ioctl(other, TIOCGDEV, &of_other) == 0 &&
         of_one == of_other;
}

int checked(int made, bool is_right) noexcept {
  if (made < 0 || is_right) return made;
  ::close(made);
  return -1;
}

}  // namespace

ssize_t transfer_at_once(bool reads, int descriptor, void* data, std::size_t bytes) noexcept {
  const iovec one{data, bytes};
  constexpr off_t where_it_stands = -1;
  const ssize_t count = reads ? ::preadv2(descriptor, &one, 1, where_it_stands, RWF_NOWAIT)
                              : ::pwritev2(descriptor, &one, 1, where_it_stands, RWF_NOWAIT);
  if (count < 0 && errno == ENOSYS) errno = EOPNOTSUPP;
  return count;
}

int open_anew(int descriptor, int flags) noexcept {
  if (is_master(descriptor)) return -1;
  std::array<char, 32> path{};
  (void)std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", descriptor);
  int made = ::open(path.data(), flags);
  made = checked(made, made >= 0 && are_the_same(made, descriptor));
  if (made >= 0 || ::isatty(descriptor) == 0) return made;
  // Somebody else's terminal (su), but the one that this process is on.
  made = ::open("/dev/tty", flags);
  return checked(made, made >= 0 && are_the_same_terminal(made, descriptor));
}

result<bool> is_always_ready(int device) noexcept {
  const int watcher = ::epoll_create1(EPOLL_CLOEXEC);
  if (watcher < 0) return std::error_code(errno, std::generic_category());
  epoll_event nothing{};
  // What cannot be waited for is refused.
  const bool refused = ::epoll_ctl(watcher, EPOLL_CTL_ADD, device, &nothing) != 0;
  const int error = errno;
  ::close(watcher);
  if (refused && error != EPERM) return std::error_code(error, std::generic_category());
  return refused;
}

}  // namespace tandem::inline v0::io::platform
