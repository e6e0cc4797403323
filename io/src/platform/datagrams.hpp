// datagrams.hpp: what UDP sockets ask the operating system for.
// SPDX-License-Identifier: MIT
//
// Any thread; none of it waits. What may fail answers with a std::error_code or a result, the calls of
// operations with an outcome (attempt.hpp). Nothing is thrown, and no caller looks at errno.
//
// pre of all that take a socket: it is open, and stays so during the call.
#pragma once

#include <cstdint>
#include <system_error>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/udp_options.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

/// post: as open_tcp_socket()
result<native_descriptor> open_udp_socket(address_family family) noexcept;
/// @param peer  null: nobody any more
[[nodiscard]] std::error_code connect_datagrams(native_descriptor socket,
                                                const endpoint* peer) noexcept;
/// Whether sockets with set_reuse_port() share what comes to their port.
bool spreads_datagrams() noexcept;
/// Asks the system to say with each datagram what it was sent to, where its socket has several
/// addresses, how it was marked, and to gather those of one sender. Hints: where it cannot, nothing
/// is said, and each comes by itself.
void tell_more(native_descriptor socket, const endpoint& bound, bool gathers, bool marks) noexcept;

// Each as the member of udp_options, or of udp_socket. @param family of the socket
[[nodiscard]] std::error_code set_broadcast(native_descriptor socket, bool on) noexcept;
[[nodiscard]] std::error_code set_hops(native_descriptor socket, address_family family,
                                       unsigned hops) noexcept;
[[nodiscard]] std::error_code set_mark(native_descriptor socket, address_family family,
                                       ecn_mark mark) noexcept;
[[nodiscard]] std::error_code set_multicast_hops(native_descriptor socket, address_family family,
                                                 unsigned hops) noexcept;
[[nodiscard]] std::error_code set_multicast_loop(native_descriptor socket, address_family family,
                                                 bool on) noexcept;
[[nodiscard]] std::error_code set_multicast_interface(native_descriptor socket,
                                                      address_family family,
                                                      std::uint32_t index) noexcept;
[[nodiscard]] std::error_code change_group(native_descriptor socket, const endpoint& group,
                                           std::uint32_t index, bool joins) noexcept;

/// Of the operations of those kinds: as next_attempt(). What is done lies in the operation's buffer.
std::int32_t receive_batch(detail::operation& operation) noexcept;
std::int32_t send_train(detail::operation& operation) noexcept;
std::int32_t send_datagrams(detail::operation& operation) noexcept;

}  // namespace tandem::inline v0::io::platform
