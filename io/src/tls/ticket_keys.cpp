// ticket_keys.cpp: sealing and opening tickets.
// SPDX-License-Identifier: MIT
#include "tls/ticket_keys.hpp"

#include <openssl/core_names.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "tls/failure.hpp"

namespace tandem::inline v0::io::detail {

namespace {

bool set_mac(EVP_MAC_CTX* mac, std::array<unsigned char, 32>& secret) {
  std::array<char, 7> digest{'S', 'H', 'A', '2', '5', '6', 0};
  const std::array<OSSL_PARAM, 3> parameters{
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, secret.data(), secret.size()),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
      OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(mac, parameters.data()) == 1;
}

}  // namespace

tls_ticket_keys::tls_ticket_keys(std::chrono::seconds lifetime)
    : cipher_(EVP_CIPHER_fetch(nullptr, "AES-256-CBC", nullptr)), lifetime_(lifetime) {
  if (cipher_ == nullptr) throw_tls(tls::errc::failed, "AES-256-CBC for tickets");
}

void tls_ticket_keys::set_lifetime(std::chrono::seconds lifetime) {
  const std::lock_guard held(lock_);
  lifetime_ = lifetime;
}

bool tls_ticket_keys::renew(clock::time_point now) {
  if (!keys_.empty() && now - keys_.front().made < lifetime_) return true;
  key fresh;
  if (RAND_bytes(fresh.name.data(), static_cast<int>(fresh.name.size())) != 1 ||
      RAND_priv_bytes(fresh.cipher.data(), static_cast<int>(fresh.cipher.size())) != 1 ||
      RAND_priv_bytes(fresh.mac.data(), static_cast<int>(fresh.mac.size())) != 1) {
    return false;
  }
  fresh.made = now;
  std::erase_if(keys_, [&](const key& each) { return now - each.made >= 2 * lifetime_; });
  try {
    keys_.insert(keys_.begin(), fresh);
  } catch (const std::bad_alloc&) {  // OpenSSL's own frames are below
    return false;
  }
  return true;
}

int tls_ticket_keys::seal(unsigned char* name, unsigned char* vector, EVP_CIPHER_CTX* cipher,
                          EVP_MAC_CTX* mac) {
  const std::lock_guard held(lock_);
  if (!renew(clock::now())) return -1;
  key& newest = keys_.front();
  std::memcpy(name, newest.name.data(), newest.name.size());
  if (RAND_bytes(vector, EVP_CIPHER_get_iv_length(cipher_.get())) != 1) return -1;
  if (EVP_EncryptInit_ex(cipher, cipher_.get(), nullptr, newest.cipher.data(), vector) != 1) {
    return -1;
  }
  return set_mac(mac, newest.mac) ? 1 : -1;
}

int tls_ticket_keys::open(const unsigned char* name, const unsigned char* vector,
                          EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac) {
  const std::lock_guard held(lock_);
  const clock::time_point now = clock::now();
  const auto found = std::ranges::find_if(keys_, [&](const key& each) {
    return std::memcmp(each.name.data(), name, each.name.size()) == 0;
  });
  if (found == keys_.end() || now - found->made >= 2 * lifetime_) return 0;
  if (!set_mac(mac, found->mac)) return 0;
  if (EVP_DecryptInit_ex(cipher, cipher_.get(), nullptr, found->cipher.data(), vector) != 1) {
    return 0;
  }
  return now - found->made < lifetime_ ? 1 : 2;
}

}  // namespace tandem::inline v0::io::detail
