// pipes.cpp: anonymous pipes of Windows can neither be waited for nor be read without blocking.
// SPDX-License-Identifier: MIT
#include "platform/pipes.hpp"

namespace tandem::inline v0::io::platform {

result<std::array<native_descriptor, 2>> make_pipe(pipe_modes /*modes*/) noexcept {
  return std::make_error_code(std::errc::not_supported);
}
refusal adopt_pipe(native_descriptor /*descriptor*/, bool /*reads*/) noexcept {
  return {std::make_error_code(std::errc::not_supported), "cannot be taken over on Windows"};
}

}  // namespace tandem::inline v0::io::platform
