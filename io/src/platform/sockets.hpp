// sockets.hpp: what streams and listeners ask the operating system for.
// SPDX-License-Identifier: MIT
//
// Any thread; none of it waits. (Closing does, for as long as tcp_options::linger says.) Transfers,
// accepts and connects are operations: attempt.hpp, and the backends.
//
// What may fail answers with a std::error_code, or with a result that holds one; nothing is thrown,
// and no caller looks at errno.
//
// pre of all that take a socket: it is open, and stays so during the call.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <system_error>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/tcp_options.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

/// post: a TCP socket, the caller's, that is not inherited across exec; in blocking mode, but on
///       Windows, where no call can be told not to wait
result<native_descriptor> open_tcp_socket(address_family family) noexcept;
/// A backend may have set it otherwise. pre: no operation is under way on it
void make_blocking(native_descriptor socket) noexcept;

// What cannot fail on a TCP socket of ours, and hints. Those of reuse and of v6: pre: not bound yet.
void set_reuse_address(native_descriptor socket, bool on) noexcept;
void set_reuse_port(native_descriptor socket) noexcept;
/// Of a system that cannot spread a port's connections over several sockets: another descriptor of
/// this one, for another thread. no_descriptor: it can (set_reuse_port). pre: it listens
result<native_descriptor> share_listener(native_descriptor listener) noexcept;
/// pre: of address_family::ipv6
void set_only_v6(native_descriptor socket, bool on) noexcept;
/// post: close() resets the connection instead of ending it
void set_reset_at_close(native_descriptor socket) noexcept;
/// Of a socket that listens.
/// post: whoever waits for it hears of its end, whoever else holds it
void end_listening(native_descriptor socket) noexcept;

/// pre: not bound yet
[[nodiscard]] std::error_code bind(native_descriptor socket, const endpoint& address) noexcept;
/// pre: bound
[[nodiscard]] std::error_code listen(native_descriptor socket, int backlog) noexcept;
/// No error if that end, or both, had ended already. pre: it was connected once; `reads || writes`
[[nodiscard]] std::error_code shut_down(native_descriptor socket, bool reads, bool writes) noexcept;
/// Whether whoever waits to read hears of shut_down(). Where not, the backend is asked to look again.
bool tells_own_shut_down() noexcept;

result<endpoint> local_endpoint_of(native_descriptor socket) noexcept;
/// Fails if it is not connected.
result<endpoint> remote_endpoint_of(native_descriptor socket) noexcept;

enum class adopted_kind : unsigned char { stream, listener, datagrams };
/// Why a foreign descriptor is not adopted.
class refusal {
 public:
  explicit operator bool() const noexcept { return why != nullptr; }

  std::error_code error;
  const char* why = nullptr;  ///< as "is no socket"; null: it is adopted
};
/// Checks that it is a socket of that kind, of TCP or UDP, and makes it one like ours. Any number will do.
///
/// post: it is not inherited across exec, and in blocking mode, since not every kernel's ring waits
///       on a non-blocking socket; if it was refused for what it is, it is untouched
[[nodiscard]] refusal adopt_socket(native_descriptor descriptor, adopted_kind wanted) noexcept;

// Each as the member of tcp_options.
[[nodiscard]] std::error_code set_no_delay(native_descriptor socket, bool on) noexcept;
[[nodiscard]] std::error_code set_keep_alive(native_descriptor socket,
                                             const std::optional<keep_alive>& alive) noexcept;
[[nodiscard]] std::error_code set_linger(native_descriptor socket,
                                         const std::optional<std::chrono::seconds>& span) noexcept;
[[nodiscard]] std::error_code set_receive_buffer_bytes(native_descriptor socket,
                                                       std::size_t bytes) noexcept;
[[nodiscard]] std::error_code set_send_buffer_bytes(native_descriptor socket,
                                                    std::size_t bytes) noexcept;
[[nodiscard]] std::error_code set_user_timeout(native_descriptor socket,
                                               std::chrono::milliseconds span) noexcept;
[[nodiscard]] std::error_code set_quick_ack(native_descriptor socket, bool on) noexcept;
/// As the system has them.
result<tcp_options> options_of(native_descriptor socket) noexcept;

}  // namespace tandem::inline v0::io::platform
