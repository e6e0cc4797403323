// failure_text.hpp: what an exception says, for lines on standard error.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

namespace tandem::inline v0::detail {

/// pre: not null. @throws std::bad_alloc
inline std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace tandem::inline v0::detail
