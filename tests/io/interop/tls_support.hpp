// tls_support.hpp: asio::ssl over streams of tandem: types, and a certificate that is made now.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/ssl.hpp>
#include <memory>
#include <system_error>
#include <tandem/boost_asio.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/when_all.hpp>
#include <utility>

#include "io/support/io_support.hpp"

namespace tandem::test {

namespace net = boost::asio;
namespace ssl = boost::asio::ssl;

using plain_stream = asio_stream<io::tcp_stream>;
using tls_stream = ssl::stream<plain_stream>;

/// A key, a certificate that it has signed itself, and both sides' contexts: the client's trusts
/// this certificate and no other.
class tls_identity {
 public:
  tls_identity() : server(ssl::context::tls_server), client(ssl::context::tls_client) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                  &EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), &X509_free);
    X509* const certificate = made.get();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600);
    X509_set_pubkey(certificate, key.get());
    X509_NAME* const name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"),  // NOLINT
                               -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    EXPECT_GT(X509_sign(certificate, key.get(), EVP_sha256()), 0);
    EXPECT_EQ(SSL_CTX_use_certificate(server.native_handle(), certificate), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(server.native_handle(), key.get()), 1);
    EXPECT_EQ(X509_STORE_add_cert(SSL_CTX_get_cert_store(client.native_handle()), certificate), 1);
    client.set_verify_mode(ssl::verify_peer);
  }

  ssl::context server;
  ssl::context client;
};

/// Boost's codes, as awaits have them.
inline std::error_code code_of(boost::system::error_code error) { return error; }

/// Runs what `body()` returns, in a runtime.
template <class F>
void run(F body) {
  test_runtime rt;
  rt.run(body());
}

inline plain_stream over(io::tcp_stream stream) { return as_asio_stream(std::move(stream)); }

inline task<void> shake_hands(tls_stream& server, tls_stream& client) {
  co_await when_all(
      [](tls_stream& stream) -> task<void> {
        co_await stream.async_handshake(ssl::stream_base::server, use_await);
      }(server),
      [](tls_stream& stream) -> task<void> {
        co_await stream.async_handshake(ssl::stream_base::client, use_await);
      }(client));
}

}  // namespace tandem::test
