// file_calls.cpp: the system calls of files by POSIX, all of which may wait.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/io/detail/file_request.hpp>

#include "platform/directories.hpp"
#include "platform/open_beneath.hpp"
#include "platform/two_ends.hpp"
#include "platform/unix/call_limit.hpp"
#include "platform/unix/file_commands.hpp"
#include "platform/unix/file_outcome.hpp"
#include "platform/unix/sync_to_disk.hpp"

namespace tandem::inline v0::io::detail {

namespace {

using platform::file_outcome_of;

/// Who appends to a file, by its inode.
constinit std::array<tandem::detail::futex_mutex, 16> appending{};

/// In one piece beside other appends of this process, by a lock; if the file was opened with
/// open_options::append also beside those of others, by the system.
std::int32_t append(int descriptor, const void* data, std::size_t bytes) noexcept {
  const int status = ::fcntl(descriptor, F_GETFL);
  struct ::stat there{};
  if (status < 0 || ::fstat(descriptor, &there) != 0) return -errno;
  if (!S_ISREG(there.st_mode)) return file_outcome_of(::write(descriptor, data, bytes));
  const std::lock_guard guard(appending[static_cast<std::size_t>(there.st_ino) % appending.size()]);
  if ((status & O_APPEND) != 0) return file_outcome_of(::write(descriptor, data, bytes));
  if (::fstat(descriptor, &there) != 0) return -errno;
  return file_outcome_of(::pwrite(descriptor, data, bytes, there.st_size));
}

int sync_data_to_disk(int descriptor) noexcept {
#if defined(_POSIX_SYNCHRONIZED_IO) && _POSIX_SYNCHRONIZED_IO > 0 && !defined(__APPLE__)
  return ::fdatasync(descriptor);
#else
  return platform::sync_to_disk(descriptor);
#endif
}

/// @returns  0 or an error number, negative
std::int32_t allocate([[maybe_unused]] int descriptor, [[maybe_unused]] off_t from,
                      [[maybe_unused]] off_t bytes) noexcept {
#if defined(_POSIX_ADVISORY_INFO) && _POSIX_ADVISORY_INFO > 0
  return -::posix_fallocate(descriptor, from, bytes);
#else
  return -ENOTSUP;
#endif
}

}  // namespace

std::int32_t file_request::call(int) noexcept {
  const segment first = segments().front();  // of a list one after the other
  const std::size_t bytes = platform::capped(first.bytes);
  const auto at = static_cast<off_t>(offset_);
  switch (action_) {
    case file_action::read:
    case file_action::read_registered:
      return file_outcome_of(::pread(descriptor_, first.data, bytes, at));
    case file_action::read_on: return file_outcome_of(::read(descriptor_, first.data, bytes));
    case file_action::write_on: return file_outcome_of(::write(descriptor_, first.data, bytes));
    case file_action::append: return append(descriptor_, first.data, bytes);
    default: return file_outcome_of(::pwrite(descriptor_, first.data, bytes, at));
  }
}

int file_request::write_flags() const noexcept { return 0; }
int file_request::attempt_flags() const noexcept { return 0; }

bool file_request::attempt() noexcept {
  // A call may wait for the disk, and nobody tells whether it would: perform() does them all.
  if (may_have_no_descriptor.has(action_)) return false;
  if (descriptor_ < 0) {
    fail(EBADF);
    return true;
  }
  if (offset_ > static_cast<std::uint64_t>(INT64_MAX)) {
    fail(EINVAL);
    return true;
  }
  return is_transfer() && is_complete();
}

std::int32_t file_request::command() noexcept {
  switch (action_) {
    case file_action::sync: return file_outcome_of(platform::sync_to_disk(descriptor_));
    case file_action::sync_data: return file_outcome_of(sync_data_to_disk(descriptor_));
    case file_action::open:
      return platform::open_at_path(descriptor_, path(), flags_, permissions_);
    case file_action::open_beneath:
      return platform::open_beneath(descriptor_, path(), flags_, permissions_);
    case file_action::status:
      return file_outcome_of(::fstat(descriptor_, static_cast<struct ::stat*>(one_.data)));
    case file_action::truncate:
      return file_outcome_of(::ftruncate(descriptor_, static_cast<off_t>(offset_)));
    case file_action::allocate:
      return allocate(descriptor_, static_cast<off_t>(offset_), static_cast<off_t>(one_.bytes));
    case file_action::copy: return platform::copy_part(descriptor_, offset_, one_.bytes, other());
    case file_action::set_permissions: return file_outcome_of(::fchmod(descriptor_, permissions_));
    case file_action::advise: return platform::advise(descriptor_, offset_, one_.bytes, flags_);
    case file_action::lock: return platform::set_lock(descriptor_, offset_, one_.bytes, flags_);
    default: return platform::act_on_path(*this);
  }
}

}  // namespace tandem::inline v0::io::detail
