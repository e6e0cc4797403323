// failure.hpp: a failure that was got as a code, thrown as the call that the user made would throw it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <system_error>
#include <tandem/errors.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::io {

/// @param advice  what to do about it; null: nothing is known
/// @throws        operation_cancelled, or std::system_error: `what "path" (advice)`
[[noreturn]] inline void throw_failure(const std::error_code& failure, const char* what,
                                       const std::string& path, const char* advice = nullptr) {
  if (failure == std::errc::operation_canceled) {
    throw operation_cancelled(tandem::current_stop_reason());
  }
  std::string text = std::string(what) + " \"" + path + '"';
  if (advice != nullptr) text.append(" (").append(advice).append(")");
  throw std::system_error(failure, text);
}

}  // namespace tandem::inline v0::io
