// checked.hpp: what the platform's contract has answered, thrown if it is a failure.
// SPDX-License-Identifier: MIT
//
// For calls of users that throw. Each takes what was tried, with which the text begins.
#pragma once

#include <string>
#include <system_error>
#include <tandem/result.hpp>

#include "platform/sockets.hpp"

namespace tandem::inline v0::io {

/// @throws  std::system_error
inline void check(std::error_code error, const char* what) {
  if (error) throw std::system_error(error, what);
}

/// @throws  std::system_error
template <class T>
T checked(result<T> answer, const char* what) {
  check(answer.error(), what);
  return std::move(answer).value();
}

/// @throws  std::system_error that says what the descriptor is instead
inline void adopt_or_throw(native_descriptor descriptor, platform::adopted_kind wanted,
                           const char* what) {
  if (const platform::refusal refused = platform::adopt_socket(descriptor, wanted)) {
    throw std::system_error(refused.error, std::string(what) + ": descriptor " +
                                               std::to_string(descriptor) + " " + refused.why);
  }
}

}  // namespace tandem::inline v0::io
