// file_call.cpp: a call on a file that a thread of blocking() makes.
// SPDX-License-Identifier: MIT
#include <tandem/io/detail/file_call.hpp>

#include <cerrno>
#include <tandem/errors.hpp>

namespace tandem::inline v0::io::detail {

void file_call::perform(blocking_request& self) noexcept {
  static_cast<file_call&>(self).request_->perform();
}

void file_call::end() {
  try {
    resumed();
    queued_.get();
  } catch (const operation_cancelled&) {
    request_->fail(ECANCELED);  // it was not begun
  }
}

}  // namespace tandem::inline v0::io::detail
