// certificate_summary.hpp: what stands in a certificate, for decisions about a peer and for logs.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tandem::inline v0::io::tls {

/// Who a certificate is for, who says so, and how long.
///
///     const tls::certificate_summary peer = stream.details().peer;
///     if (peer.subject == "CN=billing") co_await serve_billing(std::move(stream));
///
/// @source  RFC 5280; names and issuer as RFC 2253 writes them
class certificate_summary {
 public:
  certificate_summary() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  std::string subject;             ///< "CN=db1.example.org,O=Example"
  std::string issuer;              ///< likewise
  std::vector<std::string> names;  ///< subjectAltName: hosts, then addresses, mail, URIs
  std::chrono::system_clock::time_point valid_from;
  std::chrono::system_clock::time_point valid_until;
  std::string fingerprint;  ///< SHA-256 of all of it, 64 hexadecimal digits in lower case
};

}  // namespace tandem::inline v0::io::tls
