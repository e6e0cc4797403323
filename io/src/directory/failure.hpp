// failure.hpp: a failure that was got as a code, thrown as the call that the user made would throw it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <system_error>
#include <tandem/errors.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::io {

/// @throws  operation_cancelled, or std::system_error: `what "path"`
[[noreturn]] inline void throw_failure(const std::error_code& failure, const char* what,
                                       const std::string& path) {
  if (failure == std::errc::operation_canceled) {
    throw operation_cancelled(tandem::current_stop_reason());
  }
  throw std::system_error(failure, std::string(what) + " \"" + path + '"');
}

}  // namespace tandem::inline v0::io
