// tcp_statistics.cpp: what Linux tells of a connection.
// SPDX-License-Identifier: MIT
#include <linux/tcp.h>  // that of the C library ends before most of it
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "platform/tcp_details.hpp"

namespace tandem::inline v0::io::platform {

result<tcp_statistics> statistics_of(native_descriptor socket) noexcept {
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  constexpr std::uint32_t no_loss_yet = 0x7fffffff;
  ::tcp_info told{};  // an older kernel fills in less
  socklen_t size = sizeof told;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &told, &size) != 0) {
    return std::error_code(errno, std::generic_category());
  }
  const std::uint64_t segment = told.tcpi_snd_mss;
  tcp_statistics now;
  now.round_trip = microseconds(told.tcpi_rtt);
  now.round_trip_variation = microseconds(told.tcpi_rttvar);
  now.least_round_trip = microseconds(told.tcpi_min_rtt);
  now.retransmission_timeout = microseconds(told.tcpi_rto);
  now.since_sent = milliseconds(told.tcpi_last_data_sent);
  now.since_received = milliseconds(told.tcpi_last_data_recv);
  now.congestion_window = segment * told.tcpi_snd_cwnd;
  if (told.tcpi_snd_ssthresh < no_loss_yet) {
    now.slow_start_threshold = segment * told.tcpi_snd_ssthresh;
  }
  now.unacknowledged = segment * told.tcpi_unacked;
  now.not_sent = told.tcpi_notsent_bytes;
  now.send_segment = told.tcpi_snd_mss;
  now.receive_segment = told.tcpi_rcv_mss;
  now.path_mtu = told.tcpi_pmtu;
  now.bytes_sent = told.tcpi_bytes_sent;
  now.bytes_retransmitted = told.tcpi_bytes_retrans;
  now.bytes_acknowledged = told.tcpi_bytes_acked;
  now.bytes_received = told.tcpi_bytes_received;
  now.segments_sent = told.tcpi_segs_out;
  now.segments_received = told.tcpi_segs_in;
  now.retransmits = told.tcpi_total_retrans;
  now.retransmits_in_a_row = told.tcpi_retransmits;
  now.lost = told.tcpi_lost;
  now.delivery_rate = told.tcpi_delivery_rate;
  now.pacing_rate = told.tcpi_pacing_rate;
  now.had_fast_open = (told.tcpi_options & TCPI_OPT_SYN_DATA) != 0;
  return now;
}

}  // namespace tandem::inline v0::io::platform
