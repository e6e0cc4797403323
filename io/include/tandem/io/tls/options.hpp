// options.hpp: what both sides of TLS can be told: whom to trust, who they are, what they speak.
// SPDX-License-Identifier: MIT
//
// An option works, or the context that is made of it fails with a message: none is ignored.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <tandem/io/tls/export.hpp>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::tls {

/// Certificates, keys or revocation lists in PEM form: in a file, which is read again by a reload,
/// or as text.
class TANDEM_IO_TLS_API pem {
 public:
  static pem file(std::filesystem::path path) { return {std::move(path), {}}; }
  static pem text(std::string content) { return {{}, std::move(content)}; }

  /// Empty for text.
  const std::filesystem::path& path() const noexcept { return path_; }
  /// What it is called in messages: its path, or "text given in memory".
  std::string name() const;
  /// @throws  tls::error (bad_option) naming the file and what the system says
  std::string read() const;

 private:
  pem(std::filesystem::path path, std::string content) noexcept
      : path_(std::move(path)), text_(std::move(content)) {}

  std::filesystem::path path_;
  std::string text_;
};

/// A certificate and its key.
///
///     tls::identity(tls::pem::file("chain.pem"), tls::pem::file("key.pem"))
class identity {
 public:
  /// @param chain      the certificate first, then those between it and the authority's
  /// @param its_key    the certificate's private key
  /// @param opened_by  the password of an encrypted key; empty: it is not encrypted
  identity(pem chain, pem its_key, std::string opened_by = {}) noexcept
      : certificates(std::move(chain)), key(std::move(its_key)), password(std::move(opened_by)) {}

  pem certificates;
  pem key;
  std::string password;
};

enum class version : std::uint8_t { tls1_2, tls1_3 };
/// "TLS 1.2"
TANDEM_IO_TLS_API std::string_view to_string(version of) noexcept;

/// Where the computing of handshakes is done, some 0.2 to 1 ms each.
enum class handshake_home : std::uint8_t {
  workers,  ///< on the worker pool, so that no completion thread stands still for it
  caller,   ///< where the task that waits for the handshake lives
};

/// Which certificates revocation lists are asked about.
enum class revocation_check : std::uint8_t {
  leaf,   ///< the peer's own: needs a list of whoever signed it
  chain,  ///< all of its chain: needs a list of each authority
};

/// What client_options and server_options have in common.
class TANDEM_IO_TLS_API shared_options {
 public:
  shared_options() noexcept {}  // NOLINT: not an aggregate: g++ 12 breaks those inside co_await

  /// Authorities that are trusted, besides the system's if these are.
  std::vector<pem> trusted;
  /// Lists of revoked certificates. With one or more a peer's certificate is checked against them,
  /// and one of an authority without a valid list is refused.
  std::vector<pem> revocation_lists;
  revocation_check revocation = revocation_check::leaf;
  /// Application protocols (ALPN), the best first: "h2", "http/1.1".
  std::vector<std::string> protocols;
  version minimum_version = version::tls1_2;
  version maximum_version = version::tls1_3;
  /// Of TLS 1.2, in OpenSSL's words; empty: OpenSSL's defaults that are authenticated and have
  /// forward secrecy.
  std::string ciphers;
  /// Of TLS 1.3, "TLS_AES_128_GCM_SHA256:..."; empty: OpenSSL's defaults.
  std::string cipher_suites;
  /// Key exchange, "X25519:P-256"; in TLS 1.2 also the curves of certificates. Empty: OpenSSL's
  /// defaults.
  std::string groups;
  /// A file to which the secrets of each connection are appended, for Wireshark; empty: none. Whoever
  /// has it reads everything.
  std::filesystem::path key_log;
  handshake_home handshake_on = handshake_home::workers;
};

/// How a client connects.
///
///     tls::client_options options;
///     options.trusted.push_back(tls::pem::file("our_authority.pem"));
///     options.protocols = {"h2", "http/1.1"};
///     const tls::client_context context(options);
class client_options : public shared_options {
 public:
  client_options() noexcept {}  // NOLINT: as shared_options

  /// Whether the authorities of the system are trusted (SSL_CERT_FILE and SSL_CERT_DIR are heard).
  bool trust_system = true;
  /// No certificate is checked, nor its name: anybody on the way can read and change everything.
  bool accept_any_certificate_from_anybody = false;
  /// What the client shows if the server asks for it; none or one.
  std::vector<identity> certificate;
  /// How many sessions are kept, so that a further connection to the same name costs less: the
  /// newest ones; 0: none, and nothing is resumed.
  std::size_t sessions = 256;
};

/// What a server asks its clients for.
enum class client_certificates : std::uint8_t {
  ignored,   ///< nothing
  accepted,  ///< a certificate; a client without one may come in, one with a bad one may not
  required,  ///< a certificate of an authority in `trusted`
};

/// How a server is met.
///
///     tls::server_options options;
///     options.certificates.emplace_back(tls::pem::file("chain.pem"), tls::pem::file("key.pem"));
///     const tls::server_context context(options);
class server_options : public shared_options {
 public:
  server_options() noexcept {}  // NOLINT: as shared_options

  /// At least one. A client that names its server (SNI) is shown the first one that is for this
  /// name; any other client the first one.
  std::vector<identity> certificates;
  /// `trusted` has those who may have signed them; with `accepted` and `required` at least one.
  client_certificates from_clients = client_certificates::ignored;
  /// Tickets that a client of TLS 1.3 is given, each for one further connection; 0: nothing is
  /// resumed, in no version.
  std::size_t tickets = 2;
  /// How long a ticket is good for, 1 s to 7 days; a client that was asked for a certificate does the
  /// handshake in full as often. The keys change as often; the old ones are kept as long.
  std::chrono::seconds ticket_lifetime = std::chrono::hours(2);
};

}  // namespace tandem::inline v0::io::tls
