// message_failure.hpp: why a message of a Unix socket was not sent, in words.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <system_error>
#include <tandem/io/detail/local_message.hpp>
#include <tandem/io/detail/socket.hpp>

namespace tandem::inline v0::io {

/// What is the matter with the socket; nothing if it is open. To be put behind the call's name.
const char* why_not_open(const detail::socket& socket) noexcept;

/// What is known here of the failure; nothing if that is all in the code. To be put behind the call's
/// name. Asks the system which descriptor is not open.
std::string why_not_sent(const std::error_code& failure, const detail::socket& socket,
                         const detail::local_message& message);

}  // namespace tandem::inline v0::io
