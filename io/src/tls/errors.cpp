// errors.cpp: the texts of TLS errors, each with what to do.
// SPDX-License-Identifier: MIT
#include <tandem/io/tls/errors.hpp>
#include <utility>

namespace tandem::inline v0::io::tls {

namespace {

const char* text_of(errc code) noexcept {
  switch (code) {
    case errc::truncated:
      return "the connection ended without close_notify, so some of it may be missing; check that "
             "the peer closes TLS in order, or that the message itself says where it ends";
    case errc::wrong_name:
      return "the certificate is for another name; connect with a name that it has, or have it "
             "issued for this one";
    case errc::expired:
      return "the certificate has expired; renew it and reload the context, or check this "
             "machine's clock";
    case errc::not_yet_valid:
      return "the certificate is not valid yet; check the clocks of both machines";
    case errc::self_signed:
      return "the certificate is signed by itself; if it is the right one, add it to `trusted`";
    case errc::unknown_authority:
      return "nobody who is trusted has signed the certificate; add its authority to `trusted`, or "
             "have the peer send the certificates in between";
    case errc::revoked: return "the certificate has been revoked; the peer needs a new one";
    case errc::no_revocation_list:
      return "revocation is checked, and there is no valid list of the certificate's authority; "
             "add its list to `revocation_lists`, or a newer one and reload the context";
    case errc::bad_certificate: return "the certificate is not acceptable";
    case errc::no_certificate:
      return "a client certificate is required, and none was sent; the client sets "
             "client_options::certificate";
    case errc::no_common_version:
      return "the two sides share no version of TLS; compare minimum_version and maximum_version "
             "with what the peer speaks";
    case errc::no_common_cipher:
      return "the two sides share no cipher, group or kind of signature; compare `ciphers`, "
             "`cipher_suites`, `groups` and the kind of key with what the peer offers";
    case errc::no_common_protocol:
      return "the two sides share no application protocol (ALPN); compare `protocols`";
    case errc::not_tls:
      return "the peer does not speak TLS; check the port, and whether one side has TLS switched "
             "off";
    case errc::key_mismatch:
      return "the private key does not belong to the certificate; give both of the same identity, "
             "the certificate first in its file";
    case errc::bad_option: return "an option of TLS cannot be used";
    case errc::refused_by_peer: return "the peer has refused by an alert; its own log says more";
    case errc::broken_record:
      return "a record was damaged, forged or out of order; the connection cannot go on";
    case errc::closed_in_handshake:
      return "the peer has closed the connection during the handshake; look at its log, whether "
             "this port speaks TLS, and whether what is behind it is up";
    case errc::nothing_said:
      return "the client has closed the connection before it said anything, as health checks do";
    case errc::overcrowded:
      return "the handshake was given up for newer ones; raise accepting_options::max_handshakes "
             "if these are good clients";
    case errc::failed: return "TLS failed";
  }
  return "unknown error of TLS";
}

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tandem.tls"; }
  std::string message(int code) const override { return text_of(static_cast<errc>(code)); }
};

std::string with_reason(const std::string& what, const std::string& reason) {
  return reason.empty() ? what : what + " (" + reason + ")";
}

}  // namespace

const std::error_category& tls_category() noexcept {
  static const category only;
  return only;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), tls_category()};
}

error::error(errc code, const std::string& what, std::string reason)
    : std::system_error(make_error_code(code), with_reason(what, reason)),
      reason_(std::move(reason)) {}
error::~error() = default;

}  // namespace tandem::inline v0::io::tls
