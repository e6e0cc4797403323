// pipes.cpp: making pipes, and taking over those of others.
// SPDX-License-Identifier: MIT
#include "platform/pipes.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "platform/attempt.hpp"
#include "platform/unix/adopted.hpp"
#include "platform/unix/calls.hpp"

namespace tandem::inline v0::io::platform {

result<std::array<native_descriptor, 2>> make_pipe(pipe_modes modes) noexcept {
  int ends[2] = {no_descriptor, no_descriptor};
  if (open_pipe(ends) != 0) return std::error_code(errno, std::generic_category());
  if (!modes.reads_wait) set_non_blocking(ends[0]);
  if (!modes.writes_wait) set_non_blocking(ends[1]);
  return std::array<native_descriptor, 2>{ends[0], ends[1]};
}

refusal adopt_pipe(native_descriptor descriptor, bool reads) noexcept {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return refuse(errno, "is not open");
  if (!S_ISFIFO(status.st_mode)) return refuse(EINVAL, "is no pipe");
  const int flags = ::fcntl(descriptor, F_GETFD);
  const int mode = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || mode < 0) return refuse(errno, "cannot be asked");
  const int access = mode & O_ACCMODE;
  if (access != O_RDWR && access != (reads ? O_RDONLY : O_WRONLY)) {
    return refuse(EBADF, reads ? "is the writing end of a pipe" : "is the reading end of a pipe");
  }
#if defined(O_DIRECT)
  // A read ends with its packet, so that less than was asked for does not say that nothing is left.
  if ((mode & O_DIRECT) != 0) return refuse(EINVAL, "is a pipe of packets (O_DIRECT)");
#endif
  if (::fcntl(descriptor, F_SETFL, mode | O_NONBLOCK) != 0 ||
      ::fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) != 0) {
    return refuse(errno, "does not take its flags");
  }
  return {};
}

std::error_code join_port(native_descriptor /*end*/, const file_port& /*port*/) noexcept {
  return {};  // there are none
}

}  // namespace tandem::inline v0::io::platform
