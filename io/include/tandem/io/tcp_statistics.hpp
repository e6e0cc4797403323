// tcp_statistics.hpp: how a TCP connection is doing.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

namespace tandem::inline v0::io {

/// What the system knows of a connection at one moment; 0: it does not say.
///
///     const tandem::io::tcp_statistics now = stream.statistics();
///     if (now.round_trip > 200ms) use_larger_pieces();
///
/// @source  man page tcp(7): TCP_INFO; RFC 4898 (counters), RFC 6298 (times)
class tcp_statistics {
 public:
  tcp_statistics() noexcept = default;

  // Times.
  std::chrono::microseconds round_trip{};            ///< smoothed
  std::chrono::microseconds round_trip_variation{};  ///< its mean deviation
  std::chrono::microseconds least_round_trip{};      ///< seen so far, or of late
  std::chrono::microseconds retransmission_timeout{};
  std::chrono::milliseconds since_sent{};      ///< the last data
  std::chrono::milliseconds since_received{};  ///< likewise

  // What is on its way, in bytes.
  std::uint64_t congestion_window = 0;     ///< so much may be
  std::uint64_t slow_start_threshold = 0;  ///< 0 also: there was no loss yet
  std::uint64_t unacknowledged = 0;        ///< so much is, counted in whole segments
  std::uint64_t not_sent = 0;              ///< written, and still here

  // Sizes, in bytes.
  std::uint32_t send_segment = 0;
  std::uint32_t receive_segment = 0;
  std::uint32_t path_mtu = 0;

  // Since the connection was made.
  std::uint64_t bytes_sent = 0;  ///< retransmitted ones count again
  std::uint64_t bytes_retransmitted = 0;
  std::uint64_t bytes_acknowledged = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t segments_sent = 0;
  std::uint64_t segments_received = 0;
  std::uint32_t retransmits = 0;  ///< segments

  std::uint32_t retransmits_in_a_row = 0;  ///< of the segment that is unacknowledged now
  std::uint32_t lost = 0;                  ///< segments that are held for lost now

  // Bytes a second.
  std::uint64_t delivery_rate = 0;
  std::uint64_t pacing_rate = 0;  ///< the greatest number: it is not limited

  /// The first bytes came with the handshake, and were taken (tcp_options::fast_open).
  bool had_fast_open = false;
};

}  // namespace tandem::inline v0::io
