// beast_support.hpp: Beast and asio::ssl over streams of tandem: types, and a certificate that is made now.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <memory>
#include <tandem/boost_asio.hpp>
#include <tandem/io/tcp_stream.hpp>

namespace tandem::test {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
namespace websocket = boost::beast::websocket;

using plain_stream = asio_stream<io::tcp_stream>;
using tls_stream = ssl::stream<plain_stream>;
using plain_websocket = websocket::stream<plain_stream>;
using tls_websocket = websocket::stream<tls_stream>;

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

}  // namespace tandem::test
