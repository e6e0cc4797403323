// openssl_peer.hpp: a peer of encrypted connections by OpenSSL itself, over a socket that blocks.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <csignal>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/tls/tls_support.hpp"
#include "io_case.hpp"

namespace tandem::registry {
namespace io_rows {

/// What a client has, which trusts anybody, or a server.
inline SSL_CTX* openssl_context(bool is_server) {
  const auto make = [](bool serves) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's sockets raise it
    SSL_CTX* const made = SSL_CTX_new(serves ? TLS_server_method() : TLS_client_method());
    if (!serves) return made;
    const test::made_identity& shown = test::common_identity();
    BIO* const text = BIO_new_mem_buf(shown.certificates.data(), -1);
    X509* const certificate = PEM_read_bio_X509(text, nullptr, nullptr, nullptr);
    BIO* const secret = BIO_new_mem_buf(shown.key.data(), -1);
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(secret, nullptr, nullptr, nullptr);
    EXPECT_EQ(SSL_CTX_use_certificate(made, certificate), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(made, key), 1);
    EVP_PKEY_free(key);
    X509_free(certificate);
    BIO_free(secret);
    BIO_free(text);
    return made;
  };
  class freed {
   public:
    void operator()(SSL_CTX* what) const { SSL_CTX_free(what); }
  };
  static const std::unique_ptr<SSL_CTX, freed> client(make(false));
  static const std::unique_ptr<SSL_CTX, freed> server(make(true));
  return is_server ? server.get() : client.get();
}

/// One connection. For one thread at a time, but for send(), which any may call.
class openssl_peer {
 public:
  openssl_peer() = default;
  openssl_peer(peer_socket socket, bool is_server)
      : socket_(std::move(socket)), ssl_(SSL_new(openssl_context(is_server))) {
    SSL_set_fd(ssl_.get(), socket_.get());
    if (is_server) {
      SSL_set_accept_state(ssl_.get());
    } else {
      SSL_set_connect_state(ssl_.get());
    }
  }

  bool shake_hands() { return SSL_do_handshake(ssl_.get()) == 1; }
  void send(std::string_view text) {
    const std::lock_guard alone(*sending_);
    EXPECT_EQ(SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())),
              static_cast<int>(text.size()));
  }
  /// Until the connection's end. @returns how many bytes
  std::size_t read_to_end() {
    std::vector<char> room(16384);
    std::size_t all = 0;
    for (std::size_t count = 0; SSL_read_ex(ssl_.get(), room.data(), room.size(), &count) == 1;) {
      all += count;
    }
    const int reason = ERR_GET_REASON(ERR_peek_error());
    EXPECT_TRUE(reason == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        << "the records are broken: " << ERR_reason_error_string(ERR_peek_error());
    ERR_clear_error();
    return all;
  }
  void say_goodbye() { EXPECT_EQ(SSL_shutdown(ssl_.get()), 0); }
  void reset() { socket_.reset(); }

 private:
  class freed {
   public:
    void operator()(SSL* what) const { SSL_free(what); }
  };
  std::unique_ptr<std::mutex> sending_ = std::make_unique<std::mutex>();
  peer_socket socket_;
  std::unique_ptr<SSL, freed> ssl_;
};

}  // namespace io_rows
}  // namespace tandem::registry
