// file_progress.cpp: what of a request on a file is done, and whether something is left, on every system.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <cstddef>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/io/detail/other_end.hpp>

namespace tandem::inline v0::io::detail {

bool file_request::advance(std::int32_t outcome) noexcept {
  if (outcome < 0) {
    fail(-outcome);
    return false;
  }
  const auto count = static_cast<std::size_t>(outcome);
  if (action_ == file_action::copy) {
    done_ += count;
    offset_ += count;
    other().offset += count;
    one_.bytes -= count;
    return count != 0 && one_.bytes != 0;
  }
  if (!is_transfer()) {
    done_ = count;
    return false;
  }
  if (count == 0) {
    // The end of the file. No system answers a write so; if one does, it would do so for ever.
    if (!is_reading()) fail(EIO);
    return false;
  }
  done_ += count;
  offset_ += count;
  if (window_ != nullptr) return window_->advance(count);
  one_.data = static_cast<std::byte*>(one_.data) + count;
  one_.bytes -= count;
  return one_.bytes != 0;
}

}  // namespace tandem::inline v0::io::detail
