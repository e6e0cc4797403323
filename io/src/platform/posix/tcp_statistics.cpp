// tcp_statistics.cpp: each system tells of connections in its own way, and POSIX in none.
// SPDX-License-Identifier: MIT
#include "platform/tcp_details.hpp"

namespace tandem::inline v0::io::platform {

result<tcp_statistics> statistics_of(native_descriptor /*socket*/) noexcept {
  return std::make_error_code(std::errc::not_supported);
}

}  // namespace tandem::inline v0::io::platform
