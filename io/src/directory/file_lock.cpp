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

task<std::optional<file_lock>> try_lock_file(file& target, lock_mode mode, lock_range range) {
  const int flags = mode == lock_mode::shared ? platform::locks_shared : platform::locks_exclusive;
  file_command_awaiter set(detail::file_action::lock, target.handle(), range.offset, range.bytes,
                           flags);
  const result<void> taken = co_await as_result(std::move(set));
  if (taken) co_return file_lock(target.handle(), range);
  if (taken.error() == std::errc::resource_unavailable_try_again) co_return std::nullopt;
  throw_failure(taken.error(), "lock_file", target.path());
}

task<file_lock> lock_file(file& target, lock_mode mode, lock_range range) {
  using namespace std::chrono_literals;
  for (auto pause = 1ms;; pause = (std::min)(2 * pause, std::chrono::milliseconds(50))) {
    std::optional<file_lock> taken = co_await try_lock_file(target, mode, range);
    if (taken) co_return std::move(*taken);
    co_await sleep_for(pause);
  }
}

}  // namespace tandem::inline v0::io
