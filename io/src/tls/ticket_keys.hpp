// ticket_keys.hpp: the keys of a server's tickets, which change while it runs.
// SPDX-License-Identifier: MIT
//
// A ticket is a session that the client keeps for the server, encrypted. A new key is made as often as
// tickets live, and the one before is kept as long again, so every ticket can be read for its life.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "tls/handles.hpp"

namespace tandem::inline v0::io::detail {

/// @thread_safety  any thread
class tls_ticket_keys {
 public:
  /// @throws  tls::error (failed): OpenSSL has no AES
  explicit tls_ticket_keys(std::chrono::seconds lifetime);

  void set_lifetime(std::chrono::seconds lifetime);
  /// Nothing of before is resumed from now on.
  void forget();

  /// As the callback of SSL_CTX_set_tlsext_ticket_key_evp_cb: for a new ticket.
  /// @returns  1; -1: it failed
  int seal(unsigned char* name, unsigned char* vector, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac);
  /// For one that a client has brought.
  /// @returns  1: as good as new; 2: give it a new one; 0: unknown, so all is done anew
  int open(const unsigned char* name, const unsigned char* vector, EVP_CIPHER_CTX* cipher,
           EVP_MAC_CTX* mac);

 private:
  using clock = std::chrono::steady_clock;
  class key {
   public:
    std::array<unsigned char, 16> name{};
    std::array<unsigned char, 32> cipher{};
    std::array<unsigned char, 32> mac{};
    clock::time_point made;
  };

  /// Under the lock. @returns false: there is no randomness
  bool renew(clock::time_point now);

  const cipher_handle cipher_;  // looked for once: a search costs as much as a ticket
  std::mutex lock_;
  std::chrono::seconds lifetime_;
  std::vector<key> keys_;  // the newest first
};

}  // namespace tandem::inline v0::io::detail
