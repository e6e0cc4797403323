// set_up.hpp: a request as options of a handle.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <tandem/io/curl/options.hpp>

#include "curl/exchange.hpp"
#include "curl/library.hpp"

namespace tandem::inline v0::io::curl {

/// Whatever a session's multi handle is told. @throws curl::error (bad_option)
void set_up(CURLM* multi, const session_options& shared);
/// Whatever the handle is told, but for the driver's callbacks.
///
/// @param easy   as a new one, or reset
/// @param spent  of the limits of time, for the name
/// @throws       curl::error (bad_option, bad_url), std::bad_alloc
void set_up(CURL* easy, exchange& transfer, const session_options& shared,
            std::chrono::milliseconds spent);

}  // namespace tandem::inline v0::io::curl
