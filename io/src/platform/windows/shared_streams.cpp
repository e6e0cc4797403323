// shared_streams.cpp: consoles and pipes of Windows cannot be waited for without a thread each; none is here.
// SPDX-License-Identifier: MIT
#include "platform/shared_streams.hpp"

#include <system_error>

namespace tandem::inline v0::io::platform {

result<shared_descriptor> open_shared(native_descriptor /*given*/, bool /*reads*/) noexcept {
  return std::make_error_code(std::errc::not_supported);
}
result<native_descriptor> standard_descriptor(int /*which*/) noexcept {
  return std::make_error_code(std::errc::not_supported);
}

}  // namespace tandem::inline v0::io::platform
