// no_watches.cpp: systems that tell of no changes, or in no way that is used here.
// SPDX-License-Identifier: MIT
#include "platform/watches.hpp"

namespace tandem::inline v0::io::platform {

result<opened_watches> open_watches(const file_port* /*port*/) noexcept {
  return std::make_error_code(std::errc::not_supported);
}

}  // namespace tandem::inline v0::io::platform
