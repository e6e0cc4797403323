// version.hpp: the version of tandem, as macros of the headers and as a function of the library.
// SPDX-License-Identifier: MIT
//
// The one place where the version number is written: CMakeLists.txt reads it from here. A program
// whose headers and library disagree can tell by comparing TANDEM_VERSION_STRING with version().
#pragma once

#include <string_view>
#include <tandem/export.hpp>

#define TANDEM_VERSION_MAJOR 0
#define TANDEM_VERSION_MINOR 1
#define TANDEM_VERSION_PATCH 0
#define TANDEM_VERSION_STRING "0.1.0"

namespace tandem::inline v0 {

/// The version of the library that the program is linked to, "major.minor.patch".
///
/// @thread_safety       any thread
TANDEM_API std::string_view version() noexcept;

}  // namespace tandem::inline v0
