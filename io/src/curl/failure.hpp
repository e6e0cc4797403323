// failure.hpp: curl's codes as ours, and a URL that can be shown.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <tandem/io/curl/errors.hpp>

#include "curl/library.hpp"

namespace tandem::inline v0::io::curl {

/// @param words  curl's own; an empty text is replaced by what curl says of the code
[[noreturn]] void throw_failure(CURLcode code, std::string words, std::string_view url);
/// What stands between the scheme and the host, less the password.
std::string without_password(std::string_view url);
/// The set-up of a handle has failed. @throws curl::error (bad_option, bad_url), std::bad_alloc
void check_option(CURLcode code, const char* option, std::string_view url);

}  // namespace tandem::inline v0::io::curl
