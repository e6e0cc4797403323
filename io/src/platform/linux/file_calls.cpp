// file_calls.cpp: the system calls of files on Linux.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <tandem/io/detail/file_request.hpp>

#include "platform/directories.hpp"
#include "platform/linux/path_flags.hpp"
#include "platform/open_beneath.hpp"
#include "platform/two_ends.hpp"
#include "platform/unix/call_limit.hpp"
#include "platform/unix/file_commands.hpp"
#include "platform/unix/file_outcome.hpp"

namespace tandem::inline v0::io::detail {

namespace {

using platform::file_outcome_of;

/// Of a call with RWF_NOWAIT: it would wait, or does not know whether it would.
bool must_wait(std::int32_t outcome) noexcept {
  return outcome == -EAGAIN || outcome == -EOPNOTSUPP || outcome == -ENOSYS;
}

/// One buffer, without waiting: what most transfers are.
ssize_t transfer_now(bool reads, int descriptor, const segment& one, std::uint64_t offset,
                     int flags) noexcept {
  // segment is laid out as iovec (message.hpp).
#if defined(__LP64__)
  // The library's own functions are points where a thread may be cancelled, which costs what a
  // tenth of a short read does. Nobody cancels threads here.
  return ::syscall(reads ? SYS_preadv2 : SYS_pwritev2, descriptor, &one, 1UL, offset, 0UL, flags);
#else
  const auto* const list = reinterpret_cast<const iovec*>(&one);  // NOLINT
  const auto at = static_cast<off_t>(offset);
  return reads ? ::preadv2(descriptor, list, 1, at, flags)
               : ::pwritev2(descriptor, list, 1, at, flags);
#endif
}

}  // namespace

std::int32_t file_request::call(int flags) noexcept {
  const std::span<segment> list = segments();
  segment one{list[0].data, platform::capped(list[0].bytes)};
  // segment is laid out as iovec (message.hpp).
  const auto* const first =
      reinterpret_cast<const iovec*>(list.size() == 1 ? &one : list.data());  // NOLINT
  const auto count = static_cast<int>(list.size());
  const off_t at = are_at_positions.has(action_) ? -1 : static_cast<off_t>(offset_);
  if (is_reading()) return file_outcome_of(::preadv2(descriptor_, first, count, at, flags));
  return file_outcome_of(::pwritev2(descriptor_, first, count, at, flags));
}

int file_request::write_flags() const noexcept {
  return action_ == file_action::append && !has_no_end_ ? RWF_APPEND : 0;
}

int file_request::attempt_flags() const noexcept { return is_in_memory_ ? 0 : RWF_NOWAIT; }

bool file_request::attempt() noexcept {
  if (may_be_quick()) [[likely]] {
    const ssize_t count = transfer_now(is_reading(), descriptor_, one_, offset_, attempt_flags());
    if (count == static_cast<ssize_t>(one_.bytes)) [[likely]] {
      done_ = one_.bytes;
      one_.bytes = 0;
      return true;
    }
    if (must_wait(file_outcome_of(count))) return false;
    if (!took(file_outcome_of(count))) return true;
  }
  if (may_have_no_descriptor.has(action_)) return false;
  if (descriptor_ < 0) {
    fail(EBADF);
    return true;
  }
  // An offset of -1 would mean the descriptor's own position.
  if (offset_ > static_cast<std::uint64_t>(INT64_MAX)) {
    fail(EINVAL);
    return true;
  }
  if (!is_transfer()) return false;
  if (is_complete()) return true;
  // The page cache is not asked for direct transfers. What is appended is one piece, so it goes by
  // one call that is not cut short for want of memory.
  if (is_direct_ || action_ == file_action::append) return false;
  while (!is_long()) {
    const std::int32_t outcome = call(attempt_flags());
    if (must_wait(outcome)) return false;
    if (!took(outcome)) return true;
  }
  // A ring would take no notice of the offset, and wait for the other end of a pipe.
  if (are_at_offsets.has(action_) && !is_complete() && ::lseek(descriptor_, 0, SEEK_CUR) < 0) {
    fail(errno);
    return true;
  }
  return false;
}

std::int32_t file_request::command() noexcept {
  switch (action_) {
    case file_action::sync: return file_outcome_of(::fsync(descriptor_));
    case file_action::sync_data: return file_outcome_of(::fdatasync(descriptor_));
    case file_action::open:
      return platform::open_at_path(descriptor_, path(), flags_, permissions_);
    case file_action::open_beneath:
      return platform::open_beneath(descriptor_, path(), flags_, permissions_);
    case file_action::status:
      return file_outcome_of(::statx(descriptor_, "", AT_EMPTY_PATH, platform::status_mask,
                                     static_cast<struct ::statx*>(one_.data)));
    case file_action::truncate:
      return file_outcome_of(::ftruncate(descriptor_, static_cast<off_t>(offset_)));
    case file_action::allocate:
      return file_outcome_of(
          ::fallocate(descriptor_, 0, static_cast<off_t>(offset_), static_cast<off_t>(one_.bytes)));
    case file_action::copy: return platform::copy_part(descriptor_, offset_, one_.bytes, other());
    case file_action::fill_pipe:
    case file_action::drain_pipe:
      return platform::splice_file(action_ == file_action::fill_pipe, descriptor_, offset_,
                                   other());
    case file_action::set_permissions: return file_outcome_of(::fchmod(descriptor_, permissions_));
    case file_action::advise: return platform::advise(descriptor_, offset_, one_.bytes, flags_);
    case file_action::lock: return platform::set_lock(descriptor_, offset_, one_.bytes, flags_);
    default: return platform::act_on_path(*this);
  }
}

}  // namespace tandem::inline v0::io::detail
