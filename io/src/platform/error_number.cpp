// error_number.cpp: errno, where the system has no other numbers.
// SPDX-License-Identifier: MIT
#include "platform/error_number.hpp"

#include <tandem/io/detail/system_code.hpp>

namespace tandem::inline v0::io::platform {

std::error_code error_of(int number) noexcept { return {number, std::generic_category()}; }

}  // namespace tandem::inline v0::io::platform

namespace tandem::inline v0::io::detail {

std::error_code system_code(const std::error_code& code) noexcept {
  if (code.category() != std::generic_category()) return code;
  return {code.value(), std::system_category()};
}

}  // namespace tandem::inline v0::io::detail
