// two_ends.cpp: sendfile, splice and copy_file_range.
// SPDX-License-Identifier: MIT
//
// sendfile() and splice() take no flag that keeps them from waiting for a socket, so that is made
// non-blocking first; nor one that keeps the signal away.
#include "platform/two_ends.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "platform/attempt.hpp"
#include "platform/unix/without_sigpipe.hpp"

namespace tandem::inline v0::io::platform {

namespace {

using detail::obstacle;
using detail::operation;
using detail::other_end;

/// Between two copies a stop is looked for.
constexpr std::size_t most_in_a_part = std::size_t{8} << 20;
/// What one call sends before others get their turn.
constexpr std::size_t most_at_once = std::size_t{256} << 10;

std::int32_t outcome_of(ssize_t answer) noexcept {
  if (answer >= 0) return static_cast<std::int32_t>(answer);
  return errno == EAGAIN ? would_block : -errno;
}

void prepare(const operation& operation, other_end& other) noexcept {
  if (other.is_prepared) return;
  set_non_blocking(operation.descriptor());
  other.is_prepared = true;
}

/// Whether one byte can be read without waiting. What is no answer to that is told by the call that
/// follows.
bool is_at_hand(int file, std::uint64_t offset) noexcept {
  char byte = 0;
  const iovec one{&byte, 1};
  if (::preadv2(file, &one, 1, static_cast<off_t>(offset), RWF_NOWAIT) >= 0) return true;
  return errno != EAGAIN && errno != EOPNOTSUPP && errno != ENOSYS;
}

bool is_no_way(int error) noexcept {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
}

}  // namespace

std::int32_t send_file(operation& operation) noexcept {
  other_end& file = operation.of_other_end();
  prepare(operation, file);
  const std::size_t bytes = std::min(file.bytes, most_at_once);
  // copy/at_hand. Both ends of what the call would read.
  if (!file.is_in_memory && !(is_at_hand(file.descriptor, file.offset) &&
                              is_at_hand(file.descriptor, file.offset + bytes - 1))) {
    file.why = obstacle::disk;
    return 0;
  }
  auto at = static_cast<off_t>(file.offset);
  const ssize_t answer = without_sigpipe(
      [&] { return ::sendfile(operation.descriptor(), file.descriptor, &at, bytes); });
  if (answer < 0 && is_no_way(errno)) {
    file.why = obstacle::system;
    return 0;
  }
  return outcome_of(answer);
}

std::int32_t fill_pipe(operation& operation) noexcept {
  other_end& pipe = operation.of_other_end();
  if (pipe.bytes == 0) return -EINVAL;
  prepare(operation, pipe);
  return outcome_of(::splice(operation.descriptor(), nullptr, pipe.descriptor, nullptr, pipe.bytes,
                             SPLICE_F_MOVE | SPLICE_F_NONBLOCK));
}

std::int32_t drain_pipe(operation& operation) noexcept {
  other_end& pipe = operation.of_other_end();
  if (pipe.bytes == 0) return 0;
  prepare(operation, pipe);
  return outcome_of(without_sigpipe([&] {
    return ::splice(pipe.descriptor, nullptr, operation.descriptor(), nullptr, pipe.bytes,
                    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  }));
}

std::int32_t copy_part(native_descriptor from, std::uint64_t offset, std::size_t bytes,
                       other_end& to) noexcept {
  auto in = static_cast<off_t>(offset);
  auto out = static_cast<off_t>(to.offset);
  const ssize_t answer =
      ::copy_file_range(from, &in, to.descriptor, &out, std::min(bytes, most_in_a_part), 0);
  if (answer >= 0) return static_cast<std::int32_t>(answer);
  // Of two file systems; of files that are none; or the file was opened for appending.
  if (is_no_way(errno) || errno == EXDEV || errno == EBADF) {
    to.why = obstacle::system;
    return 0;
  }
  return -errno;
}

std::int32_t splice_file(bool fills, native_descriptor file, std::uint64_t offset,
                         const other_end& pipe) noexcept {
  auto at = static_cast<off_t>(offset);
  constexpr unsigned flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
  if (pipe.bytes == 0) return fills ? -EINVAL : 0;
  const ssize_t answer = fills ? ::splice(file, &at, pipe.descriptor, nullptr, pipe.bytes, flags)
                               : ::splice(pipe.descriptor, nullptr, file, &at, pipe.bytes, flags);
  return answer >= 0 ? static_cast<std::int32_t>(answer) : -errno;
}

std::int32_t open_splice_pipe(std::size_t capacity, pipe_ends& made) noexcept {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return -errno;
  // Without leave to have as much it stays as it is.
  (void)::fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(capacity));
  const int size = ::fcntl(ends[1], F_GETPIPE_SZ);
  made = {ends[0], ends[1], static_cast<std::size_t>(std::max(size, 0))};
  return 0;
}

void reset_connection(native_descriptor socket) noexcept {
  const sockaddr nobody{AF_UNSPEC, {}};
  (void)::connect(socket, &nobody, sizeof nobody);
}

}  // namespace tandem::inline v0::io::platform
