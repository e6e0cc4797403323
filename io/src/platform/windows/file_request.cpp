// file_request.cpp: the calls of Windows for files.
// SPDX-License-Identifier: MIT
//
// Nothing of a file can be tried without waiting, so attempt() leaves all of it to perform(), on a
// thread of blocking(). Each call of ReadFile() and WriteFile() names its offset and waits for its
// own event, so handles with and without FILE_FLAG_OVERLAPPED are served alike.
#include <algorithm>
#include <cerrno>
#include <string>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/stop.hpp>

#include "platform/directories.hpp"
#include "platform/files.hpp"
#include "platform/open_beneath.hpp"
#include "platform/two_ends.hpp"
#include "platform/windows/file_calls.hpp"
#include "platform/windows/shared_transfer.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::detail {

namespace {

/// Of a call that has just answered with TRUE or FALSE.
std::int32_t outcome_of(BOOL answer) noexcept { return answer != 0 ? 0 : -platform::last_number(); }

}  // namespace

bool file_request::is_long() noexcept {
  std::size_t sum = 0;
  for (const segment& each : segments()) sum += each.bytes;
  return sum > inline_bytes;
}

/// One part: the first buffer of those that are left. What is appended is one piece.
std::int32_t file_request::call(int flags) noexcept {
  const std::span<segment> list = segments();
  if (list.empty()) return 0;
  // Windows has no call for a list of buffers of any size.
  const segment& first = list.front();
  if (are_at_positions.has(action_)) {
    return platform::transfer_on(is_reading(), descriptor_, first.data, first.bytes,
                                 static_cast<platform::shared_kind>(flags_));
  }
  const std::uint64_t at = flags != 0 ? platform::end_of_file : offset_;
  return platform::transfer(is_reading(), descriptor_, first.data, first.bytes, at);
}

int file_request::write_flags() const noexcept {
  return action_ == file_action::append && !has_no_end_ ? 1 : 0;
}

int file_request::attempt_flags() const noexcept { return 0; }

bool file_request::attempt() noexcept {
  if (may_have_no_descriptor.has(action_)) return false;
  if (!is_descriptor(descriptor_)) {
    fail(EBADF);
    return true;
  }
  if (offset_ > static_cast<std::uint64_t>(INT64_MAX)) {
    fail(EINVAL);
    return true;
  }
  return is_transfer() && is_complete();
}

void file_request::perform() noexcept {
  while (took(is_transfer() ? call(write_flags()) : command())) {
    if (tandem::stop_requested()) {  // files/stop: between two parts
      fail(ECANCELED);
      return;
    }
  }
}

std::int32_t file_request::command() noexcept {
  const HANDLE file = platform::handle_of(descriptor_);
  switch (action_) {
    case file_action::sync:
    case file_action::sync_data: return outcome_of(::FlushFileBuffers(file));
    case file_action::open:
      return platform::open_at_path(descriptor_, path(), flags_, permissions_);
    case file_action::open_beneath:
      return platform::open_beneath(descriptor_, path(), flags_, permissions_);
    case file_action::status: return platform::ask_status(descriptor_, one_.data);
    case file_action::truncate: return platform::set_size(descriptor_, offset_);
    case file_action::allocate: return platform::allocate(descriptor_, offset_ + one_.bytes);
    case file_action::copy: return platform::copy_part(descriptor_, offset_, one_.bytes, other());
    case file_action::set_permissions: return platform::set_permissions(descriptor_, permissions_);
    case file_action::advise: return 0;  // nobody to tell
    case file_action::lock: return platform::set_lock(descriptor_, offset_, one_.bytes, flags_);
    default: return platform::act_on_path(*this);
  }
}

bool file_request::took(std::int32_t outcome) noexcept {
  error_ = 0;
  if (outcome == -EINTR) return true;
  const bool is_more = advance(outcome);
  const bool is_on_disk = flags_ == static_cast<int>(platform::shared_kind::on_disk);
  // What others send ends a read as it comes; only a file goes on until the buffer is full.
  return is_more && (action_ != file_action::read_on || is_on_disk);
}

}  // namespace tandem::inline v0::io::detail
