// system_code.hpp: a failure as other libraries tell it, with a number of the operating system.
// SPDX-License-Identifier: MIT
#pragma once

#include <system_error>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io::detail {

/// What the library's own code of a failure is in std::system_category(). A code that the system has
/// no number for, or of another category, stays as it is.
TANDEM_IO_API std::error_code system_code(const std::error_code& code) noexcept;

}  // namespace tandem::inline v0::io::detail
