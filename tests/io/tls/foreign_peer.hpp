// foreign_peer.hpp: TLS by other programs: openssl's and GnuTLS's servers and clients, and curl.
// SPDX-License-Identifier: MIT
//
// How each of them is started, told to say something, and told to end. Servers listen at a port of
// their own; all of them trust the test's authority, and check what they are shown.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tandem/io/tls/options.hpp>
#include <vector>

#include "io/support/peer_process.hpp"
#include "io/tls/certificates.hpp"
#include "loopback_ports.hpp"
#include "required.hpp"

namespace tandem::test {

enum class peer_kind : std::uint8_t { s_server, gnutls_serv, s_client, gnutls_cli, curl };

/// "s_server"
std::string name_of(peer_kind kind);
std::string name_of(io::tls::version version);
/// What has to be installed: "openssl".
std::string program_of(peer_kind kind);
constexpr bool is_server(peer_kind kind) noexcept {
  return kind == peer_kind::s_server || kind == peer_kind::gnutls_serv;
}

/// talk: it prints what it reads, and sends what it is told (gnutls-serv: sends back what comes).
/// page: a server answers one request, and says farewell; curl asks for a page, and sends none.
enum class peer_mode : std::uint8_t { talk, page };

class peer_request {
 public:
  peer_request(peer_kind what, io::tls::version which, peer_mode how = peer_mode::talk)
      : kind(what), version(which), mode(how) {}

  peer_kind kind;
  io::tls::version version;
  peer_mode mode;
  std::vector<std::string> more;  ///< arguments
  std::string file;               ///< that curl sends; empty: what it is told
  std::string trusted;            ///< the file of an authority; empty: the test's
};

/// Certificates as files, which foreign programs want. Made once in a process.
class peer_files {
 public:
  static const peer_files& shared();

  std::string authority;
  std::string certificate;  ///< of "localhost", with its chain
  std::string key;
  std::string client_certificate;
  std::string client_key;
  /// A path where there is nothing yet.
  std::string fresh(std::string_view name) const;

 private:
  peer_files();
};

class foreign_peer {
 public:
  /// @param port  of a client: where it connects to
  explicit foreign_peer(const peer_request& request, std::uint16_t port = 0);
  foreign_peer(const foreign_peer&) = delete;
  foreign_peer& operator=(const foreign_peer&) = delete;
  ~foreign_peer();

  /// Where a server listens.
  std::uint16_t port() const noexcept { return port_; }
  bool echoes() const noexcept { return kind_ == peer_kind::gnutls_serv; }

  peer_process& process() noexcept { return *process_; }
  void say(std::string_view text) { process_->say(text); }
  bool prints(std::string_view text, std::size_t times = 1) {
    return process_->prints(text, times);
  }

 private:
  peer_kind kind_;
  std::uint16_t port_;
  bound_socket held_ = no_bound_socket;  // keeps the port of a server that cannot choose one
  std::optional<peer_process> process_;
};

}  // namespace tandem::test

/// At the beginning of a law, or of SetUp().
#define TANDEM_NEEDS_PROGRAM(program)                                                      \
  do {                                                                                     \
    if (!::tandem::test::peer_process::is_installed(program)) {                            \
      if (::tandem::test::every_test_is_required()) FAIL() << "there is no " << (program); \
      GTEST_SKIP() << "there is no " << (program);                                         \
    }                                                                                      \
  } while (false)
