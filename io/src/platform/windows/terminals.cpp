// terminals.cpp: nothing is asked of consoles yet.
// SPDX-License-Identifier: MIT
#include "platform/terminals.hpp"

namespace tandem::inline v0::io::platform {

namespace {
std::error_code missing() noexcept { return std::make_error_code(std::errc::not_supported); }
}  // namespace

bool is_terminal(native_descriptor /*descriptor*/) noexcept { return false; }
result<terminal_size> size_of_terminal(native_descriptor /*descriptor*/) noexcept {
  return missing();
}
std::error_code set_terminal_mode(native_descriptor /*terminal*/, terminal_mode /*mode*/,
                                  kept_mode /*before*/) noexcept {
  return missing();
}
void restore_terminal_mode(native_descriptor /*terminal*/, kept_mode /*before*/) noexcept {}

}  // namespace tandem::inline v0::io::platform
