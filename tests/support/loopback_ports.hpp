// loopback_ports.hpp: ports of the loopback that are bound and not listened at; linux/ and windows/.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::test {

/// A socket, as the system numbers it.
using bound_socket = std::intptr_t;
inline constexpr bound_socket no_bound_socket = -1;

/// On 127.0.0.1, at any port.
/// @param shares  whether listeners may be bound to the port as well, by number; where the system
///                has no such thing nobody holds it, and there is no socket
bound_socket bind_loopback_v4(bool shares, std::uint16_t& port);
/// This port of ::1. @param is_held  false: somebody else has it
bound_socket bind_loopback_v6(std::uint16_t port, bool& is_held);
void close_bound(bound_socket socket);

/// How many descriptors this process holds; on Windows how many sockets.
std::size_t open_descriptors();

}  // namespace tandem::test
