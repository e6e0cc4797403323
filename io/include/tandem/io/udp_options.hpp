// udp_options.hpp: what can be set on a UDP socket.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tandem::inline v0::io {

/// What a router has written into a datagram, or the sender: explicit congestion notification.
///
/// @source  RFC 3168, section 5
enum class ecn_mark : std::uint8_t {
  none = 0,       ///< the sender does not take part
  capable_1 = 1,  ///< ECT(1)
  capable_0 = 2,  ///< ECT(0)
  congested = 3,  ///< CE: a router on the way was about to drop it
};

/// Options of a socket from its beginning; most can be changed later by calls of udp_socket.
///
///     tandem::io::udp_options options;
///     options.reuse_port = true;
///     auto socket = tandem::io::udp_socket::bind(tandem::io::endpoint::any_v6(4433), options);
///
/// @source  man pages ip(7), ipv6(7), udp(7), socket(7)
class udp_options {
 public:
  udp_options() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  bool reuse_address = false;  ///< several sockets may have the address, as for multicast
  bool reuse_port = false;     ///< likewise, and the kernel spreads the senders over them
  bool only_v6 = false;        ///< an IPv6 socket has no IPv4 peers; else it has both
  bool broadcast = false;      ///< it may send to broadcast addresses
  /// Several datagrams of one sender come as one, up to 64 KiB, where the kernel can (Linux 5.0):
  /// received_datagram::segments() takes them apart. Off, each comes by itself.
  bool gathers = true;
  /// received_datagram::mark() is told.
  bool tells_marks = true;
  /// Kernel buffers. The system halves what is too much, without an error (net.core.rmem_max).
  std::optional<std::size_t> receive_buffer_bytes;
  std::optional<std::size_t> send_buffer_bytes;
  /// How many routers a datagram may pass (TTL, hop limit); of multicast 1 if it is not set.
  std::optional<unsigned> hops;
  std::optional<unsigned> multicast_hops;
  /// Whether sockets of this machine get its multicast, too; as the system has it (on) if not set.
  std::optional<bool> multicast_loop;
  /// What is written into each datagram that is sent.
  std::optional<ecn_mark> mark;
};

}  // namespace tandem::inline v0::io
