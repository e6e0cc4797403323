// utf8_text.hpp: text of whoever it was becomes UTF-8.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem::inline v0::detail {

/// The first character of the text; U+FFFD where it begins with none of UTF-8 (RFC 3629).
///
/// @param text  not empty
/// @returns     how many bytes of it are done with. @throws std::bad_alloc
std::size_t append_character(std::string& out, std::string_view text);

}  // namespace tandem::inline v0::detail
