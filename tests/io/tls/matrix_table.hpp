// matrix_table.hpp: the ends that an encrypted connection can have, as they look from here.
// SPDX-License-Identifier: MIT
//
// The table for users is in io/src/tls/README.md ("Ends"); this one is what the tests go by.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/tls/foreign_peer.hpp"

namespace tandem::test {

enum class ending : std::uint8_t {
  clean,                 // the peer says farewell, then we do
  peer_is_killed,        // FIN without close_notify
  reset,                 // RST
  half_close_by_us,      // we say farewell, the peer goes on, and says its own
  half_close_by_peer,    // the peer says farewell, we go on
  stop_in_handshake,     // the peer is silent in the middle of it
  timeout_in_handshake,  // as above
  stop_in_read,          // the peer is silent
  timeout_in_read,
  stop_in_write,  // the peer takes nothing
  timeout_in_write,
  silent_in_finish,  // the peer does not answer our farewell: its own time, a time-out, a stop
};

/// How a call ends.
enum class outcome : std::uint8_t {
  not_asked,
  end,        // read: 0
  truncated,  // errc::truncated
  reset,      // errc::connection_reset
  works,
  refused,    // errc::broken_pipe, or connection_reset
  user_stop,  // operation_cancelled, stop_reason::user
  deadline,   // operation_cancelled, stop_reason::deadline
  yes,        // finish: true
  no,         // finish: false
};

/// What is asked, in this order: the handshake, a read, a write, finish(). A stop of ours ends the
/// call that the row is named after, and after a read or a write the stream goes on.
class end_row {
 public:
  ending what;
  outcome handshake;
  outcome read;
  outcome write;
  outcome finish;
  bool in_both_versions;
};

using enum outcome;
// clang-format off
inline constexpr end_row end_table[] = {
    //                             handshake  read       write      finish     both versions
    {ending::clean,                works,     end,       not_asked, yes,       true},
    {ending::peer_is_killed,       works,     truncated, not_asked, no,        true},
    {ending::reset,                works,     reset,     refused,   no,        true},
    {ending::half_close_by_us,     works,     end,       refused,   yes,       true},
    {ending::half_close_by_peer,   works,     end,       works,     yes,       true},
    {ending::stop_in_handshake,    user_stop, not_asked, not_asked, not_asked, false},
    {ending::timeout_in_handshake, deadline,  not_asked, not_asked, not_asked, false},
    {ending::stop_in_read,         works,     user_stop, not_asked, not_asked, false},
    {ending::timeout_in_read,      works,     deadline,  not_asked, not_asked, false},
    {ending::stop_in_write,        works,     not_asked, user_stop, not_asked, false},
    {ending::timeout_in_write,     works,     not_asked, deadline,  not_asked, false},
    {ending::silent_in_finish,     works,     not_asked, not_asked, no,        false}};
// clang-format on

/// gnutls-cli answers our farewell by going, without its own.
inline constexpr end_row half_closed_gnutls_cli{
    ending::half_close_by_us, works, truncated, refused, no, true};

constexpr std::string_view name_of(ending what) noexcept {
  switch (what) {
    case ending::clean: return "clean";
    case ending::peer_is_killed: return "peer_is_killed";
    case ending::reset: return "reset";
    case ending::half_close_by_us: return "half_close_by_us";
    case ending::half_close_by_peer: return "half_close_by_peer";
    case ending::stop_in_handshake: return "stop_in_handshake";
    case ending::timeout_in_handshake: return "timeout_in_handshake";
    case ending::stop_in_read: return "stop_in_read";
    case ending::timeout_in_read: return "timeout_in_read";
    case ending::stop_in_write: return "stop_in_write";
    case ending::timeout_in_write: return "timeout_in_write";
    case ending::silent_in_finish: return "silent_in_finish";
  }
  return "";
}

/// One law: an end, as one program makes it.
class end_cell {
 public:
  end_row row;
  peer_kind peer;
  io::tls::version version;

  std::string name() const {
    return std::string(name_of(row.what)) + "__" + name_of(peer) + "_" + name_of(version);
  }
};

/// The cells whose end is one of `first` to `last`.
inline std::vector<end_cell> cells_between(ending first, ending last) {
  std::vector<end_cell> cells;
  for (const end_row& row : end_table) {
    if (row.what < first || row.what > last) continue;
    for (const peer_kind peer : {peer_kind::s_server, peer_kind::gnutls_serv, peer_kind::s_client,
                                 peer_kind::gnutls_cli, peer_kind::curl}) {
      const bool is_other = row.what == ending::half_close_by_us && peer == peer_kind::gnutls_cli;
      const end_row& as_it_does = is_other ? half_closed_gnutls_cli : row;
      cells.push_back({as_it_does, peer, io::tls::version::tls1_3});
      if (row.in_both_versions) cells.push_back({as_it_does, peer, io::tls::version::tls1_2});
    }
  }
  return cells;
}

}  // namespace tandem::test
