// socket_setting.hpp: sets one option of a socket.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <climits>
#include <system_error>
#include <utility>

namespace tandem::inline v0::io::platform {

/// Of a call that has just answered with 0, or with -1 and errno.
inline std::error_code error_of_call(int answer) noexcept {
  return answer == 0 ? std::error_code() : std::error_code(errno, std::generic_category());
}

template <class T>
std::error_code set(int descriptor, int level, int name, const T& value) noexcept {
  return error_of_call(::setsockopt(descriptor, level, name, &value, sizeof value));
}

/// What does not fit is as good as the largest that does.
template <class Number>
int to_int(Number value) noexcept {
  if (std::cmp_less(value, 0)) return -1;  // which the system refuses
  return std::cmp_less(INT_MAX, value) ? INT_MAX : static_cast<int>(value);
}

}  // namespace tandem::inline v0::io::platform
