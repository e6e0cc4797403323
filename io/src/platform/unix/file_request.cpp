// file_request.cpp: what calls on files have answered, and whether more is left to ask for.
// SPDX-License-Identifier: MIT
#include <fcntl.h>

#include <cerrno>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::io::detail {

namespace {

/// Also of a thread of the kernel that works for a ring, by a cancel (moving/cancel): then some
/// operations, as open, pass on what a system call would begin again by itself, or make EINTR of:
/// ERESTARTSYS to ERESTART_RESTARTBLOCK, which the headers do not name.
bool was_interrupted(std::int32_t outcome) noexcept {
  return outcome == -EINTR || (outcome <= -512 && outcome >= -516);
}

}  // namespace

bool file_request::is_long() noexcept {
  std::size_t sum = 0;
  for (const segment& each : segments()) sum += each.bytes;
  return sum > inline_bytes;
}

void file_request::perform() noexcept {
  while (took(is_transfer() ? call(write_flags()) : command())) {
    if (tandem::stop_requested()) {  // files/stop: between two parts
      fail(ECANCELED);
      return;
    }
  }
}

bool file_request::took(std::int32_t outcome) noexcept {
  error_ = 0;  // one that moves to another ring is cancelled, and goes on there
  if (was_interrupted(outcome)) return true;
  if (outcome == -EOPNOTSUPP && write_flags() != 0) return has_no_end_ = true;
  if (outcome == -EAGAIN && is_opening() && (flags_ & O_NONBLOCK) != 0) {
    flags_ &= ~O_NONBLOCK;  // somebody has to give up a lease on it
    return true;
  }
  // The end of a file is where it is: what is read past the page cache from there on is not
  // aligned.
  if (outcome == -EINVAL && is_direct_ && is_reading() && done_ != 0) return false;
  return advance(outcome);
}

}  // namespace tandem::inline v0::io::detail
