// handles.hpp: OpenSSL's objects, each with the function that gives it back; how names are compared.
// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace tandem::inline v0::io::detail {

template <auto Free>
struct openssl_deleter {
  template <class T>
  void operator()(T* object) const noexcept {
    Free(object);
  }
};
template <class T, auto Free>
using openssl_handle = std::unique_ptr<T, openssl_deleter<Free>>;

using bio_handle = openssl_handle<BIO, &BIO_free_all>;
using key_handle = openssl_handle<EVP_PKEY, &EVP_PKEY_free>;
using certificate_handle = openssl_handle<X509, &X509_free>;
using revocation_handle = openssl_handle<X509_CRL, &X509_CRL_free>;
using cipher_handle = openssl_handle<EVP_CIPHER, &EVP_CIPHER_free>;
using context_handle = openssl_handle<SSL_CTX, &SSL_CTX_free>;
using connection_handle = openssl_handle<SSL, &SSL_free>;
using session_handle = openssl_handle<SSL_SESSION, &SSL_SESSION_free>;

/// How names are compared (RFC 6125, 9525): a wildcard is a whole label, and the subject is no name.
inline constexpr unsigned name_flags =
    X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;

}  // namespace tandem::inline v0::io::detail
