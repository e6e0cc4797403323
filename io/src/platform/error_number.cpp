// error_number.cpp: errno, where the system has no other numbers.
// SPDX-License-Identifier: MIT
#include "platform/error_number.hpp"

namespace tandem::inline v0::io::platform {

std::error_code error_of(int number) noexcept { return {number, std::generic_category()}; }

}  // namespace tandem::inline v0::io::platform
