// wait_gate.cpp: not every system has descriptors that wait for others.
// SPDX-License-Identifier: MIT
#include "platform/wait_gate.hpp"

#include <system_error>

namespace tandem::inline v0::io::platform {

bool has_wait_gates() noexcept { return false; }

result<native_descriptor> open_wait_gate(native_descriptor, bool) noexcept {
  return std::make_error_code(std::errc::not_supported);
}

}  // namespace tandem::inline v0::io::platform
