// details.cpp: what the two sides have agreed on.
// SPDX-License-Identifier: MIT
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "tls/certificate.hpp"
#include "tls/engine.hpp"

namespace tandem::inline v0::io::detail {

namespace {

std::string pem_of(X509* certificate) {
  if (certificate == nullptr) return {};
  const bio_handle memory(BIO_new(BIO_s_mem()));
  if (memory == nullptr || PEM_write_bio_X509(memory.get(), certificate) != 1) return {};
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace

tls::session_details tls_engine::details() const {
  SSL* const of = connection_.get();
  tls::session_details told;
  told.version = SSL_version(of) == TLS1_3_VERSION ? tls::version::tls1_3 : tls::version::tls1_2;
  told.cipher = SSL_CIPHER_standard_name(SSL_get_current_cipher(of));
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(of, &protocol, &size);
  if (size != 0) told.protocol.assign(reinterpret_cast<const char*>(protocol), size);  // NOLINT
  if (const char* const name = SSL_get_servername(of, TLSEXT_NAMETYPE_host_name)) {
    told.server_name = name;
  }
  told.resumed = SSL_session_reused(of) == 1;
  X509* const shown = SSL_get0_peer_certificate(of);
  told.peer_certificate = pem_of(shown);
  told.peer = summary_of(shown);
  return told;
}

}  // namespace tandem::inline v0::io::detail
