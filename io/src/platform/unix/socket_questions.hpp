// socket_questions.hpp: asks a socket for its options.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace tandem::inline v0::io::platform {

/// Asks a socket for its options, one after another, and keeps the first failure.
class socket_questions {
 public:
  explicit socket_questions(int descriptor) noexcept : descriptor_(descriptor) {}

  /// @returns  zero if it cannot be asked
  template <class T = int>
  T ask(int level, int name) noexcept {
    T value{};
    socklen_t size = sizeof value;
    const int answer = ::getsockopt(descriptor_, level, name, &value, &size);
    if (answer == 0) return value;
    if (!error) error = std::error_code(errno, std::generic_category());
    return T{};
  }

  std::error_code error;

 private:
  const int descriptor_;
};

}  // namespace tandem::inline v0::io::platform
