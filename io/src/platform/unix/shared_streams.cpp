// shared_streams.cpp: descriptors that others use too, by the calls of POSIX.
// SPDX-License-Identifier: MIT
#include "platform/shared_streams.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "platform/processes.hpp"
#include "platform/unix/shared_transfer.hpp"
#include "platform/unix/without_sigpipe.hpp"

namespace tandem::inline v0::io::platform {

namespace {

constexpr int first_free = 3;  // the numbers below are standard input, output and errors

bool never_waits(int descriptor) noexcept {
  const int status = ::fcntl(descriptor, F_GETFL);
  return status >= 0 && (status & O_NONBLOCK) != 0;
}

/// @returns  whether it is; else errno is EAGAIN
bool is_ready(int descriptor, short events) noexcept {
  pollfd asked{descriptor, events, 0};
  int count = 0;
  do {
    count = ::poll(&asked, 1, 0);
  } while (count < 0 && errno == EINTR);
  if (count != 0) return true;  // of an error the call that follows tells
  errno = EAGAIN;
  return false;
}

/// What is ready for writing takes so much without waiting, if nobody else writes meanwhile. A
/// terminal promises less than a pipe does.
std::size_t safe_piece(int descriptor, std::size_t bytes) noexcept {
  constexpr std::size_t of_terminal = 256;
  return std::min(bytes, ::isatty(descriptor) != 0 ? of_terminal : std::size_t{PIPE_BUF});
}

/// Without a word from the system that a call need not wait.
ssize_t write_if_ready(int descriptor, const void* data, std::size_t bytes) noexcept {
  const ssize_t sent = ::send(descriptor, data, bytes, MSG_DONTWAIT);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  if (never_waits(descriptor)) return ::write(descriptor, data, bytes);
  if (!is_ready(descriptor, POLLOUT)) return -1;
  return ::write(descriptor, data, safe_piece(descriptor, bytes));
}

}  // namespace

// shared/try
ssize_t read_shared(int descriptor, void* data, std::size_t bytes) noexcept {
  ssize_t count = transfer_at_once(true, descriptor, data, bytes);
  if (count >= 0 || errno != EOPNOTSUPP) return count;
  count = ::recv(descriptor, data, bytes, MSG_DONTWAIT);
  if (count >= 0 || errno != ENOTSOCK) return count;
  if (!never_waits(descriptor) && !is_ready(descriptor, POLLIN)) return -1;
  return ::read(descriptor, data, bytes);
}

ssize_t write_shared(int descriptor, const void* data, std::size_t bytes) noexcept {
  return holding_sigpipe([&] {
    const ssize_t count = transfer_at_once(false, descriptor, const_cast<void*>(data),  // NOLINT
                                           bytes);
    if (count >= 0 || errno != EOPNOTSUPP) return count;
    return write_if_ready(descriptor, data, bytes);
  });
}

namespace {

/// One that is opened anew would be given what the descriptor itself may not do.
bool may_move(int status, bool reads) noexcept {
  const int access = status & O_ACCMODE;
  return access == O_RDWR || access == (reads ? O_RDONLY : O_WRONLY);
}

/// shared/file. @returns  whether calls on it wait for a disk at most
result<bool> is_file(int descriptor, mode_t mode, bool is_terminal) noexcept {
  if (S_ISREG(mode) || S_ISBLK(mode) || S_ISDIR(mode)) return true;
  if (!S_ISCHR(mode) || is_terminal) return false;
  return is_always_ready(descriptor);
}

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

}  // namespace

// shared/open
result<shared_descriptor> open_shared(native_descriptor given, bool reads) noexcept {
  struct ::stat about{};
  const int status = ::fcntl(given, F_GETFL);
  if (status < 0 || ::fstat(given, &about) != 0) return last_error();
  if (!may_move(status, reads)) return std::make_error_code(std::errc::bad_file_descriptor);
  const bool is_terminal = ::isatty(given) != 0;
  const result<bool> file = is_file(given, about.st_mode, is_terminal);
  if (!file) return file.error();
  int made = -1;
  if (is_terminal || S_ISFIFO(about.st_mode)) {
    made = open_anew(given, (reads ? O_RDONLY : O_WRONLY) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  }
  // Of one that was opened anew, too: it may have got the number of a standard one that is closed.
  if (made < first_free) {
    const int moved = ::fcntl(made < 0 ? given : made, F_DUPFD_CLOEXEC, first_free);
    const std::error_code error = last_error();
    if (made >= 0) ::close(made);
    if (moved < 0) return error;
    made = moved;
  }
  return shared_descriptor{made, file.value()};
}

result<native_descriptor> standard_descriptor(int which) noexcept {
  const native_descriptor given = standard_stream(which);
  if (given == no_descriptor) return std::make_error_code(std::errc::bad_file_descriptor);
  return given;
}

}  // namespace tandem::inline v0::io::platform
