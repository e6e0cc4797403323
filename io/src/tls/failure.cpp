// failure.cpp: OpenSSL's reasons, alerts and verdicts on certificates, told apart.
// SPDX-License-Identifier: MIT
#include "tls/failure.hpp"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <new>
#include <utility>

namespace tandem::inline v0::io::detail {

namespace {

using tls::errc;

errc verdict_code(long verdict) noexcept {
  switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return errc::wrong_name;
    case X509_V_ERR_CERT_HAS_EXPIRED: return errc::expired;
    case X509_V_ERR_CERT_NOT_YET_VALID: return errc::not_yet_valid;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return errc::self_signed;
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE: return errc::unknown_authority;
    case X509_V_ERR_CERT_REVOKED: return errc::revoked;
    case X509_V_ERR_UNABLE_TO_GET_CRL:
    case X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER:
    case X509_V_ERR_CRL_HAS_EXPIRED:
    case X509_V_ERR_CRL_NOT_YET_VALID:
    case X509_V_ERR_CRL_SIGNATURE_FAILURE: return errc::no_revocation_list;
    default: return errc::bad_certificate;
  }
}

/// @param is_first  it is the answer to our first message
errc alert_code(int alert, bool is_first) noexcept {
  switch (alert) {
    // Later it may mean anything: a certificate that is missing, a renegotiation.
    case SSL_AD_HANDSHAKE_FAILURE: return is_first ? errc::no_common_cipher : errc::refused_by_peer;
    case SSL_AD_PROTOCOL_VERSION: return errc::no_common_version;
    case SSL_AD_NO_APPLICATION_PROTOCOL: return errc::no_common_protocol;
    case SSL_AD_CERTIFICATE_REQUIRED: return errc::no_certificate;
    default: return errc::refused_by_peer;
  }
}

/// Before anything of the peer was understood these mean that it speaks something else.
bool is_noise(int reason) noexcept {
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_UNEXPECTED_MESSAGE:
    case SSL_R_UNEXPECTED_RECORD:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_ENCRYPTED_LENGTH_TOO_LONG:
    case SSL_R_BAD_RECORD_TYPE:
    case SSL_R_BAD_LENGTH:
    case SSL_R_RECORD_LENGTH_MISMATCH:
    case SSL_R_RECORD_TOO_SMALL:
    case SSL_R_LENGTH_TOO_SHORT:
    case SSL_R_UNKNOWN_PROTOCOL: return true;
    default: return false;
  }
}

errc reason_code(int reason) noexcept {
  switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_UNSUPPORTED_SSL_VERSION: return errc::no_common_version;
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_CIPHERS_AVAILABLE:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SUITABLE_GROUPS:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_GROUPS:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS: return errc::no_common_cipher;
    case SSL_R_NO_APPLICATION_PROTOCOL: return errc::no_common_protocol;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return errc::no_certificate;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC:
    case SSL_R_BAD_RECORD_TYPE:
    case SSL_R_UNEXPECTED_MESSAGE:
    case SSL_R_UNEXPECTED_RECORD:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_ENCRYPTED_LENGTH_TOO_LONG:
    case SSL_R_RECORD_LENGTH_MISMATCH:
    case SSL_R_LENGTH_MISMATCH:
    case SSL_R_LENGTH_TOO_SHORT: return errc::broken_record;
    default: return errc::failed;
  }
}

class queue_entry {
 public:
  int library = 0;
  int reason = 0;
  std::string text;
};

/// The first entry says what went wrong; later ones only where that was noticed.
queue_entry take_entry() {
  queue_entry entry;
  const unsigned long number = ERR_get_error();
  ERR_clear_error();
  if (number == 0) return entry;
  entry.library = ERR_GET_LIB(number);
  entry.reason = ERR_GET_REASON(number);
  if (const char* const text = ERR_reason_error_string(number)) {
    entry.text = text;
  } else {
    std::array<char, 256> room{};
    ERR_error_string_n(number, room.data(), room.size());
    entry.text = room.data();
  }
  return entry;
}

bool is_out_of_memory(const queue_entry& entry) noexcept {
  return entry.reason == ERR_R_MALLOC_FAILURE;
}

}  // namespace

void throw_tls(tls::errc code, const std::string& what) {
  queue_entry entry = take_entry();
  if (is_out_of_memory(entry)) throw std::bad_alloc();
  throw tls::error(code, what, std::move(entry.text));
}

std::exception_ptr failure_of(SSL* connection, const std::string& what, const std::string& refused,
                              bool is_first) {
  queue_entry entry = take_entry();
  if (is_out_of_memory(entry)) return std::make_exception_ptr(std::bad_alloc());
  errc code = errc::failed;
  if (entry.library == ERR_LIB_SSL && entry.reason > SSL_AD_REASON_OFFSET) {
    code = alert_code(entry.reason - SSL_AD_REASON_OFFSET, is_first);
    entry.text = "the peer says: " + entry.text;
  } else if (entry.library == ERR_LIB_SSL && entry.reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    const long verdict = SSL_get_verify_result(connection);
    code = verdict_code(verdict);
    entry.text += ": ";
    entry.text += X509_verify_cert_error_string(verdict);
    if (!refused.empty()) entry.text += "; " + refused;
  } else if (entry.library == ERR_LIB_SSL) {
    code = is_first && is_noise(entry.reason) ? errc::not_tls : reason_code(entry.reason);
  }
  return std::make_exception_ptr(tls::error(code, what, std::move(entry.text)));
}

}  // namespace tandem::inline v0::io::detail
