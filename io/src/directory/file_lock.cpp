// file_lock.cpp: tries, pauses, and what a lock gives back.
// SPDX-License-Identifier: MIT
#include <tandem/io/file_lock.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>

#include "directory/failure.hpp"
#include "platform/files.hpp"

namespace tandem::inline v0::io {

file_lock::file_lock(detail::file_handle& held, lock_range range) noexcept
    : held_(&held), range_(range) {
  held_->begin_operation();
}

void file_lock::unlock() noexcept {
  if (held_ == nullptr) return;
  platform::unlock(held_->descriptor(), range_.offset, range_.bytes);
  std::exchange(held_, nullptr)->end_operation();
}

namespace {

/// What to do about a failure, where that is known.
const char* advice_on(const std::error_code& error, const file& target, lock_mode mode) noexcept {
  if (error == std::errc::bad_file_descriptor) {
    if (!target.is_open()) return "the file is not open";
    return mode == lock_mode::shared ? "a shared lock needs a file that is open for reading"
                                     : "an exclusive lock needs a file that is open for writing";
  }
  if (error == std::errc::invalid_argument) {
    return "the part begins beyond what a file can have, or files of this kind have no locks";
  }
  if (error == std::errc::no_lock_available) return "the system has no room for one more lock";
  if (error == std::errc::not_supported) return "this system has no locks of open files";
  return nullptr;
}

/// @param what  the call of the user
task<std::optional<file_lock>> try_lock(file& target, lock_mode mode, lock_range range,
                                        const char* what) {
  const int flags = mode == lock_mode::shared ? platform::locks_shared : platform::locks_exclusive;
  file_command_awaiter set(detail::file_action::lock, target.handle(), range.offset, range.bytes,
                           flags);
  const result<void> taken = co_await as_result(std::move(set));
  if (taken) co_return file_lock(target.handle(), range);
  if (taken.error() == std::errc::resource_unavailable_try_again) co_return std::nullopt;
  const char* const advice = advice_on(taken.error(), target, mode);
  throw_failure(taken.error(), what, target.path(), advice);
}

}  // namespace

task<std::optional<file_lock>> try_lock_file(file& target, lock_mode mode, lock_range range) {
  return try_lock(target, mode, range, "try_lock_file");
}

task<file_lock> lock_file(file& target, lock_mode mode, lock_range range) {
  using namespace std::chrono_literals;
  for (auto pause = 1ms;; pause = (std::min)(2 * pause, std::chrono::milliseconds(50))) {
    std::optional<file_lock> taken = co_await try_lock(target, mode, range, "lock_file");
    if (taken) co_return std::move(*taken);
    co_await sleep_for(pause);
  }
}

}  // namespace tandem::inline v0::io
