// errors.hpp: what goes wrong with TLS, as codes whose messages say what to do.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <system_error>
#include <tandem/io/tls/export.hpp>
#include <type_traits>

namespace tandem::inline v0::io::tls {

/// Of tls_category(). message() says what to do about it.
enum class errc {
  truncated = 1,        ///< the connection ended without close_notify: some of it may be missing
  wrong_name,           ///< the certificate is for other names than the one that was asked for
  expired,              ///< the certificate, or one above it, is not valid any more
  not_yet_valid,        ///< the certificate, or one above it, is not valid yet
  self_signed,          ///< the certificate is signed by itself, and is not trusted
  unknown_authority,    ///< nobody who is trusted has signed the certificate
  revoked,              ///< a revocation list has the certificate
  no_revocation_list,   ///< lists are checked, and there is none, or no valid one, of its authority
  bad_certificate,      ///< the certificate is not acceptable for another reason
  no_certificate,       ///< a client certificate is required, and the client has sent none
  no_common_version,    ///< the two sides share no version of TLS
  no_common_cipher,     ///< the two sides share no cipher, group or kind of signature
  no_common_protocol,   ///< ALPN: the two sides share no application protocol
  not_tls,              ///< what the peer has sent is not TLS
  key_mismatch,         ///< the private key does not belong to the certificate
  bad_option,           ///< an option cannot be used: what() says which, and why
  refused_by_peer,      ///< the peer has ended the handshake, or the connection, by an alert
  broken_record,        ///< a record was forged, damaged or out of order
  closed_in_handshake,  ///< the peer has closed the connection in the midst of the handshake
  nothing_said,         ///< to a server: the client has closed the connection before its first word
  overcrowded,          ///< a handshake was given up for newer ones: accepting_options
  failed,               ///< anything else; what() has OpenSSL's reason
};

TANDEM_IO_TLS_API const std::error_category& tls_category() noexcept;
TANDEM_IO_TLS_API std::error_code make_error_code(errc code) noexcept;

/// A failure of TLS: its code is of tls_category(); what() has, after that, OpenSSL's own reason and
/// the alert that the peer has sent, as far as there are such.
class TANDEM_IO_TLS_API error : public std::system_error {
 public:
  error(errc code, const std::string& what, std::string reason);
  error(const error&) = default;
  error& operator=(const error&) = default;
  ~error() override;

  /// OpenSSL's reason ("certificate verify failed"), for logs; empty if it had none.
  const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
};

}  // namespace tandem::inline v0::io::tls

template <>
struct std::is_error_code_enum<tandem::io::tls::errc> : std::true_type {};
