// ticket_keys.hpp: the keys of a server's tickets, which change while it runs.
// SPDX-License-Identifier: MIT
//
// A ticket is a session that the client keeps for the server, encrypted. A new key is made as often as
// tickets live, and the one before is kept as long again, so every ticket can be read for its life.
#pragma once

#include <array>
#include <atomic>
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
  /// For the next generation that asks clients for certificates. @returns  a number of its own
  std::uint64_t next_era() noexcept { return eras_.fetch_add(1, std::memory_order_relaxed) + 1; }

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
  std::vector<key> keys_;               // the newest first
  std::atomic<std::uint64_t> eras_{0};  // a number: orders nothing
};

}  // namespace tandem::inline v0::io::detail
