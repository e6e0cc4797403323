// failure_text.hpp: what an exception says, for lines on standard error.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

namespace tandem::inline v0::detail {

/// Lives as long as the exception does. pre: not null
inline const char* text_of(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace tandem::inline v0::detail
