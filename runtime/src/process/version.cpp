// version.cpp: the library's own version number.
// SPDX-License-Identifier: MIT
#include <tandem/version.hpp>

namespace tandem::inline v0 {

std::string_view version() noexcept { return TANDEM_VERSION_STRING; }

}  // namespace tandem::inline v0
