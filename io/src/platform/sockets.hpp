// sockets.hpp: what streams and listeners ask the operating system for. A folder for each system fulfils it.
// SPDX-License-Identifier: MIT
//
// None of it waits. (Closing does, for as long as tcp_options::linger says.) Transfers, accepts and
// connects are operations: attempt.hpp, and the backends.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/tcp_options.hpp>

#include "platform/descriptor.hpp"

namespace tandem::inline v0::io::platform {

/// A TCP socket that is not inherited across exec. @returns it, or an error number, negative
native_descriptor open_tcp_socket(address_family family) noexcept;
/// A backend may have set it otherwise.
void make_blocking(native_descriptor socket) noexcept;

/// What cannot fail on a socket of ours, and hints.
void set_reuse_address(native_descriptor socket, bool on) noexcept;
void set_reuse_port(native_descriptor socket) noexcept;
void set_only_v6(native_descriptor socket, bool on) noexcept;
/// close() then resets the connection instead of ending it.
void set_reset_at_close(native_descriptor socket) noexcept;
/// Of a socket that listens: whoever waits for it hears of its end, whoever else holds it.
void end_listening(native_descriptor socket) noexcept;

/// @returns  whether it was done; if not: throw_last_error()
bool bind(native_descriptor socket, const endpoint& address) noexcept;
bool listen(native_descriptor socket, int backlog) noexcept;
/// pre: it was connected once. True also if that end, or both, had ended already.
bool shut_down(native_descriptor socket, bool reads, bool writes) noexcept;

/// @throws  std::system_error beginning with `what`
endpoint local_endpoint_of(native_descriptor socket, const char* what);
endpoint remote_endpoint_of(native_descriptor socket, const char* what);

enum class adopted_kind : bool { stream, listener };
/// Checks that it is a TCP socket of that kind, and makes it one like ours: not inherited across
/// exec, and in blocking mode, since not every kernel's ring waits on a non-blocking socket.
///
/// @throws  std::system_error that says what it is instead; the descriptor is untouched then
void check_adopted(native_descriptor descriptor, adopted_kind wanted, const char* what);

/// @returns  whether it was done; if not: throw_last_error()
bool set_no_delay(native_descriptor socket, bool on) noexcept;
bool set_keep_alive(native_descriptor socket, const std::optional<keep_alive>& alive) noexcept;
bool set_linger(native_descriptor socket, const std::optional<std::chrono::seconds>& span) noexcept;
bool set_receive_buffer_bytes(native_descriptor socket, std::size_t bytes) noexcept;
bool set_send_buffer_bytes(native_descriptor socket, std::size_t bytes) noexcept;
bool set_user_timeout(native_descriptor socket, std::chrono::milliseconds span) noexcept;
bool set_quick_ack(native_descriptor socket, bool on) noexcept;
/// As the system has them. @throws std::system_error beginning with `what`
tcp_options options_of(native_descriptor socket, const char* what);

}  // namespace tandem::inline v0::io::platform
