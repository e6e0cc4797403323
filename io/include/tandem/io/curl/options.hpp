// options.hpp: what the requests of a session share, and the limits that a transfer has.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tandem/io/curl/export.hpp>

namespace tandem::inline v0::io::curl {

/// Which HTTP is spoken.
enum class http_version : std::uint8_t {
  automatic,        ///< HTTP/2 over TLS where the server can (ALPN), else HTTP/1.1
  http1_0,          ///< of answers only
  http1_1,          ///< nothing newer
  http2,            ///< as automatic; requests wait for a connection that they can share
  http2_cleartext,  ///< HTTP/2 without TLS and without asking ("prior knowledge")
  http3,            ///< of answers only
};

/// What a transfer may take. Whatever is over ends it with errc::timed_out or errc::too_large.
class transfer_limits {
 public:
  transfer_limits() noexcept {}  // NOLINT: no aggregate, which g++ 12 could not take in co_await

  /// Until the connection stands: name, TCP, TLS. Waiting for one of a session's connections to be
  /// free counts.
  std::chrono::milliseconds connect{std::chrono::seconds(30)};
  /// In all, redirects and pauses included; none: no limit.
  std::optional<std::chrono::milliseconds> total;
  /// Slower than so many bytes a second for so long is too slow. A paused transfer is not slow. 0:
  /// no limit.
  std::uint32_t slow_bytes_per_second = 0;
  std::chrono::seconds slow_for{30};
  /// The body, as the reader gets it. A collected body without a limit of its own has
  /// `collected_bytes`.
  std::optional<std::uint64_t> body_bytes;
  static constexpr std::uint64_t collected_bytes = std::uint64_t{64} << 20;
  /// The head of an answer, all of its fields together.
  std::size_t head_bytes = std::size_t{256} << 10;
  /// How many redirects are followed; 0: none, and the answer is the redirect itself.
  unsigned redirects = 10;
};

/// What becomes of cookies.
enum class cookie_policy : std::uint8_t {
  off,     ///< none is kept or sent, but those that a request brings
  memory,  ///< kept while the session lives
  file,    ///< read from session_options::cookie_file at the beginning, written there at the end
};

/// What all requests of a session share.
class session_options {
 public:
  session_options() {}  // NOLINT: no aggregate, which g++ 12 could not take in co_await

  /// At most so many connections at a time, in all and to one host; more requests wait for one in
  /// the order of their coming. 0: no limit.
  unsigned max_connections = 0;
  unsigned max_connections_per_host = 0;
  /// So many are kept open when nobody uses them.
  unsigned max_idle_connections = 64;

  http_version version = http_version::automatic;
  cookie_policy cookies = cookie_policy::off;
  /// Of cookie_policy::file, which needs one. In the format of Netscape's, as curl writes it; need
  /// not exist yet, but its folder must. If it cannot be written at the end, with_session() throws.
  std::filesystem::path cookie_file;
  /// How long an address stays known. 0: every request asks anew.
  std::chrono::seconds name_cache{60};
  /// "http://host:port", "socks5h://host:port"; empty: none. The environment's is not asked for.
  std::string proxy;
  std::string user_agent = "tandem-io_curl";
  /// PEM: the authorities that are trusted, and no others; empty: the system's. curl reads them at
  /// the session's first connection over TLS, on the session's thread, and keeps them for a day. The
  /// system's are many (some 20 ms), so a session's first https request may be told of as a stall of
  /// that thread (completion_options::on_stall): nothing in the program is wrong then. A file with
  /// only those authorities that are needed is read in well under a millisecond.
  std::filesystem::path ca_file;
  /// Whether a server has to prove who it is.
  bool verify = true;
  /// Of requests that bring none of their own.
  transfer_limits limits;
};

}  // namespace tandem::inline v0::io::curl
