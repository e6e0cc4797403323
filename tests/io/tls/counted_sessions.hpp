// counted_sessions.hpp: how many of OpenSSL's SSL objects this process has: what a handshake makes and an end frees.
// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/ssl.h>

#include <atomic>

namespace tandem::test {

/// SSL objects that were made and are not freed.
inline long live_ssl_objects() {
  static std::atomic<long> live{0};
  // NOLINTBEGIN: OpenSSL's signatures
  static const int number = SSL_get_ex_new_index(
      0, nullptr, [](void*, void*, CRYPTO_EX_DATA*, int, long, void*) { ++live; }, nullptr,
      [](void*, void*, CRYPTO_EX_DATA*, int, long, void*) { --live; });
  // NOLINTEND
  return number < 0 ? -1 : live.load();
}
/// Before main: before any is made.
inline const long live_ssl_objects_at_start = live_ssl_objects();

}  // namespace tandem::test
