// raw_peer.hpp: a peer by OpenSSL itself, over any stream, whose records a test may hold back.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tandem/io/any_stream.hpp>
#include <tandem/task.hpp>
#include <utility>
#include <vector>

#include "io/tls/tls_support.hpp"

namespace tandem::test {

template <auto Free>
class freed_by_openssl {
 public:
  template <class T>
  void operator()(T* what) const noexcept {
    Free(what);
  }
};
template <class T, auto Free>
using openssl_owner = std::unique_ptr<T, freed_by_openssl<Free>>;

enum class raw_side : unsigned char { client, server };

/// A client trusts anybody; a server shows the certificate that the process shares.
class raw_context {
 public:
  explicit raw_context(raw_side side)
      : context_(SSL_CTX_new(side == raw_side::server ? TLS_server_method() : TLS_client_method())),
        side_(side) {
    if (side == raw_side::server) show(common_identity());
    SSL_CTX_set_session_cache_mode(get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  }
  SSL_CTX* get() const noexcept { return context_.get(); }
  bool serves() const noexcept { return side_ == raw_side::server; }
  /// Of a server: one ticket a handshake, with as much in it as takes several records of 512 bytes.
  void make_tickets_large() const {
    SSL_CTX_set_num_tickets(get(), 1);
    SSL_CTX_set_session_ticket_cb(get(), &raw_context::enlarge, nullptr, nullptr);
    SSL_CTX_set_max_send_fragment(get(), 512);
  }

 private:
  static int enlarge(SSL* connection, void* /*unused*/) {
    static const std::array<unsigned char, 2000> data{};
    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(connection), data.data(), data.size());
  }
  void show(const made_identity& shown) {
    const openssl_owner<BIO, &BIO_free_all> text(BIO_new_mem_buf(shown.certificates.data(), -1));
    const openssl_owner<X509, &X509_free> certificate(
        PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
    const openssl_owner<BIO, &BIO_free_all> secret(BIO_new_mem_buf(shown.key.data(), -1));
    const openssl_owner<EVP_PKEY, &EVP_PKEY_free> key(
        PEM_read_bio_PrivateKey(secret.get(), nullptr, nullptr, nullptr));
    EXPECT_EQ(SSL_CTX_use_certificate(get(), certificate.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(get(), key.get()), 1);
  }

  openssl_owner<SSL_CTX, &SSL_CTX_free> context_;
  raw_side side_;
};

/// One connection. What OpenSSL makes is sent by the test, when it likes. For one task at a time.
class raw_peer {
 public:
  raw_peer(const raw_context& of, io::any_stream below)
      : below_(std::move(below)), connection_(SSL_new(of.get())) {
    SSL_set_bio(get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_app_data(get(), this);
    SSL_CTX_sess_set_new_cb(of.get(), &raw_peer::keep);
    if (of.serves()) {
      SSL_set_accept_state(get());
    } else {
      SSL_set_connect_state(get());
    }
  }
  raw_peer(const raw_peer&) = delete;
  raw_peer& operator=(const raw_peer&) = delete;
  ~raw_peer() { SSL_set_shutdown(get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN); }

  SSL* get() const noexcept { return connection_.get(); }
  /// The newest one that the server has given; null: none.
  SSL_SESSION* session() const noexcept { return session_.get(); }

  /// What OpenSSL wants to be sent.
  std::string made() {
    char* begin = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(get()), &begin);  // NOLINT: the macro's cast
    std::string all(begin, static_cast<std::size_t>(size));
    EXPECT_EQ(BIO_reset(SSL_get_wbio(get())), 1);  // NOLINT: as above
    return all;
  }
  std::string encrypted(const std::string& text) {
    EXPECT_EQ(SSL_write(get(), text.data(), static_cast<int>(text.size())),
              static_cast<int>(text.size()));
    return made();
  }
  /// Of a server, after the handshake: one more ticket.
  std::string ticket() {
    EXPECT_EQ(SSL_new_session_ticket(get()), 1);
    EXPECT_EQ(SSL_do_handshake(get()), 1);
    return made();
  }
  std::string goodbye() {
    EXPECT_GE(SSL_shutdown(get()), 0);
    return made();
  }
  task<void> send(std::string bytes) { co_await below_.write_all(io::bytes_of(bytes)); }
  /// Waits for what comes next. @returns how many bytes, which OpenSSL has now; 0: the end
  task<std::size_t> come() {
    std::array<std::byte, 4096> room;
    const std::size_t count = co_await below_.read(room);
    if (count != 0) {
      EXPECT_EQ(BIO_write(SSL_get_rbio(get()), room.data(), static_cast<int>(count)),
                static_cast<int>(count));
    }
    co_return count;
  }

  /// Shakes hands. @returns what the last step has made, which is kept back
  task<std::string> shake_hands_but_last() {
    while (true) {
      ERR_clear_error();
      const int answer = SSL_do_handshake(get());
      std::string bytes = made();
      if (answer == 1) co_return bytes;
      EXPECT_EQ(SSL_get_error(get(), answer), SSL_ERROR_WANT_READ);
      if (!bytes.empty()) co_await send(std::move(bytes));
      const std::size_t count = co_await come();
      EXPECT_NE(count, 0U) << "the peer has ended the handshake";
      if (count == 0) co_return std::string();
    }
  }
  task<void> shake_hands() { co_await send(co_await shake_hands_but_last()); }

  /// Reads so many bytes, or until the end. @returns what has come
  task<std::string> read(std::size_t most) {
    std::string all;
    while (all.size() < most) {
      std::array<char, 4096> room{};
      std::size_t count = 0;
      ERR_clear_error();
      const int answer =
          SSL_read_ex(get(), room.data(), std::min(room.size(), most - all.size()), &count);
      all.append(room.data(), count);
      if (answer == 1) continue;
      const int why = SSL_get_error(get(), answer);
      has_ended_well_ = why == SSL_ERROR_ZERO_RETURN;
      if (why != SSL_ERROR_WANT_READ || co_await come() == 0) break;
    }
    co_return all;
  }
  /// The other side has said close_notify.
  bool has_ended_well() const noexcept { return has_ended_well_; }

 private:
  static int keep(SSL* connection, SSL_SESSION* session) {
    static_cast<raw_peer*>(SSL_get_app_data(connection))->session_.reset(session);
    return 1;
  }

  io::any_stream below_;
  openssl_owner<SSL, &SSL_free> connection_;
  openssl_owner<SSL_SESSION, &SSL_SESSION_free> session_;
  bool has_ended_well_ = false;
};

/// Each with its head.
inline std::vector<std::string> records_of(const std::string& bytes) {
  const auto number = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes.at(at)));
  };
  std::vector<std::string> all;
  for (std::size_t at = 0; at < bytes.size(); at += all.back().size()) {
    all.push_back(bytes.substr(at, 5 + (number(at + 3) << 8) + number(at + 4)));
  }
  return all;
}

}  // namespace tandem::test
