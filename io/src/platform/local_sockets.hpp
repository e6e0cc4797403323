// local_sockets.hpp: what Unix sockets ask the operating system for.
// SPDX-License-Identifier: MIT
//
// Any thread; none of it waits. What may fail answers with a std::error_code or a result, the calls of
// operations with an outcome (attempt.hpp). Nothing is thrown, and no caller looks at errno. A system
// without such sockets answers errc::not_supported.
//
// pre of all that take a socket: it is open, and stays so during the call.
#pragma once

#include <array>
#include <cstdint>
#include <system_error>
#include <tandem/io/detail/local_message.hpp>
#include <tandem/io/detail/local_name.hpp>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/peer_credentials.hpp>
#include <tandem/io/unix_endpoint.hpp>
#include <tandem/result.hpp>

#include "platform/sockets.hpp"

namespace tandem::inline v0::io::platform {

enum class local_kind : std::uint8_t { stream, seqpacket, datagram };

/// post: as open_tcp_socket()
result<native_descriptor> open_local_socket(local_kind kind) noexcept;
result<std::array<native_descriptor, 2>> make_local_pair(local_kind kind) noexcept;

/// pre: not bound yet. @param permissions of the path, if there is one; negative: as the system has it
[[nodiscard]] std::error_code bind_local(native_descriptor socket, const unix_endpoint& address,
                                         std::int64_t permissions) noexcept;
/// @returns  resource_unavailable_try_again: the listener has no room for one more
[[nodiscard]] std::error_code connect_local(native_descriptor socket,
                                            const unix_endpoint& peer) noexcept;
/// Of the file that a path leads to, itself a socket; else not_a_socket.
result<detail::file_identity> identity_of(const unix_endpoint& path) noexcept;
void remove_path(const unix_endpoint& path) noexcept;

result<unix_endpoint> local_name_of(native_descriptor socket) noexcept;
result<unix_endpoint> local_peer_of(native_descriptor socket) noexcept;
/// Of the other end, at the time of connecting.
result<peer_credentials> credentials_of(native_descriptor socket) noexcept;
/// post: each message that is received tells its sender's
[[nodiscard]] std::error_code tell_credentials(native_descriptor socket) noexcept;

/// As adopt_socket(). @param listens  it has to
[[nodiscard]] refusal adopt_local_socket(native_descriptor descriptor, local_kind wanted,
                                         bool listens) noexcept;

/// Of the operations of those kinds: as next_attempt().
std::int32_t receive_local(detail::operation& operation) noexcept;
std::int32_t send_local(detail::operation& operation) noexcept;
/// Likewise, by itself: to a receiver that is named. @returns would_block: its queue is full
std::int32_t send_local_to(native_descriptor socket, const detail::local_message& message,
                           const unix_endpoint& receiver) noexcept;

}  // namespace tandem::inline v0::io::platform
