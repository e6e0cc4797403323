// tcp_options.hpp: what can be set on a TCP connection.
// SPDX-License-Identifier: MIT
//
// A value: given to connect() or to a listener, whose connections have it from their first byte on,
// or set later. What is not set stays as the system has it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tandem/io/system_name.hpp>

namespace tandem::inline v0::io {

/// Probes that tell an idle connection from one whose peer has vanished.
class keep_alive {
 public:
  keep_alive() noexcept = default;
  keep_alive(std::chrono::seconds idle_for, std::chrono::seconds between,
             unsigned probe_count) noexcept
      : idle(idle_for), interval(between), probes(probe_count) {}

  std::chrono::seconds idle{60};      ///< without a byte, before the first probe
  std::chrono::seconds interval{10};  ///< between probes
  unsigned probes = 6;                ///< unanswered ones after which the connection is dead

  friend bool operator==(const keep_alive&, const keep_alive&) noexcept = default;
};

/// Options of a connection.
///
///     tandem::io::tcp_options options;
///     options.alive = tandem::io::keep_alive(30s, 5s, 3);
///     options.user_timeout = 20s;
///     auto stream = co_await tandem::io::tcp_stream::connect(peer, options);
///
/// @source  man pages socket(7), ip(7), tcp(7); RFC 2474 (DSCP), RFC 7413 (fast open)
class tcp_options {
 public:
  tcp_options() noexcept {
  }  // NOLINT: not an aggregate, which g++ 12 could not take inside co_await

  /// Small writes are sent at once, instead of waiting for an acknowledgement (Nagle's algorithm).
  bool no_delay = true;
  /// None: no probes.
  std::optional<keep_alive> alive;
  /// What close() does with bytes that are not sent yet. None: the system sends them afterwards.
  /// Zero: they are dropped, and the peer gets a reset. More: close() blocks its thread, for so
  /// long at most; shutdown() and reading to the end does the same without a thread.
  std::optional<std::chrono::seconds> linger;
  /// Kernel buffers. Set, they are no longer sized by the system itself, which mostly does better.
  std::optional<std::size_t> receive_buffer_bytes;
  std::optional<std::size_t> send_buffer_bytes;
  /// How long written bytes may stay unacknowledged before the connection is given up.
  std::optional<std::chrono::milliseconds> user_timeout;
  /// Acknowledgements are sent at once. A hint: the system falls back by itself, and a listener
  /// does not pass it on to its connections.
  std::optional<bool> quick_ack;

  // What not every system has: elsewhere setting it fails with errc::not_supported, as it does on
  // Windows for all of these.

  /// The byte of each packet that says how it is to be treated (TOS, or traffic class): its upper
  /// six bits are the DSCP, 0xB8 is "expedited forwarding". The lower two are TCP's own (ECN).
  std::optional<std::uint8_t> traffic_class;
  /// Packets leave, and are taken, by this interface only. Before the connection is made. Linux;
  /// for a device other than before with CAP_NET_RAW.
  std::optional<system_name> device;
  /// For the system's routing and filters. Linux, with CAP_NET_ADMIN.
  std::optional<std::uint32_t> mark;
  /// As "cubic" or "bbr": one that the system has loaded, and lets this user take. Linux, BSDs.
  std::optional<system_name> congestion_control;
  /// No segment carries more, in either direction. Before the connection is made.
  std::optional<std::size_t> max_segment_bytes;
  /// Of connect(): it ends without a word to the peer, and what is written first goes with the
  /// handshake, if the peer allows that (listen_options::fast_open_queue). It saves a round trip,
  /// and may arrive twice; a refusal is told by that write, before which nothing can be read.
  /// Linux.
  std::optional<bool> fast_open;
};

}  // namespace tandem::inline v0::io
