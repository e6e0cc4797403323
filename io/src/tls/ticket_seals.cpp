// ticket_seals.cpp: what a ticket says of its session, and whether that is still good.
// SPDX-License-Identifier: MIT
//
// OpenSSL resumes a session without looking at the client's certificate again. So a ticket carries by
// whose rules it was checked, and when; whoever has others does the handshake in full.
#include <cstring>
#include <ctime>

#include "tls/engine.hpp"
#include "tls/generation.hpp"

namespace tandem::inline v0::io::detail {

namespace {

/// In a ticket, which nobody but this server reads.
class seal {
 public:
  std::uint64_t era = 0;
  std::int64_t first = 0;  // when the handshake in full was, by the system's clock
};

bool read_seal(SSL_SESSION* session, seal& into) noexcept {
  void* data = nullptr;
  std::size_t size = 0;
  if (SSL_SESSION_get0_ticket_appdata(session, &data, &size) != 1 || size != sizeof into) {
    return false;
  }
  std::memcpy(&into, data, size);
  return true;
}

int write_seal(SSL* connection, void* /*unused*/) {
  SSL_SESSION* const session = SSL_get_session(connection);
  seal mark;
  // A session that was resumed keeps the time of its beginning.
  if (SSL_session_reused(connection) != 1 || !read_seal(session, mark)) {
    mark.first = static_cast<std::int64_t>(std::time(nullptr));
  }
  mark.era = tls_engine::of(connection).options().era;
  return SSL_SESSION_set1_ticket_appdata(session, &mark, sizeof mark);
}

/// Whether a client that was let in by its certificate would be let in now.
bool passes(const tls_generation& by, SSL_SESSION* session) noexcept {
  seal mark;
  if (!read_seal(session, mark) || mark.era != by.era) return false;
  const auto age = static_cast<std::int64_t>(std::time(nullptr)) - mark.first;
  if (age < 0 || age > by.ticket_lifetime.count()) return false;
  X509* const shown = SSL_SESSION_get0_peer(session);
  if (shown == nullptr) return !by.requires_certificate;
  return X509_cmp_current_time(X509_get0_notAfter(shown)) > 0;
}

SSL_TICKET_RETURN check_seal(SSL* connection, SSL_SESSION* session, const unsigned char* /*name*/,
                             std::size_t /*name_size*/, SSL_TICKET_STATUS status,
                             void* /*unused*/) {
  if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW) {
    return SSL_TICKET_RETURN_IGNORE_RENEW;
  }
  const tls_generation& by = tls_engine::of(connection).options();
  if (by.checks_peer && !passes(by, session)) return SSL_TICKET_RETURN_IGNORE_RENEW;
  return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW;
}

}  // namespace

void check_tickets(SSL_CTX* context) {
  SSL_CTX_set_session_ticket_cb(context, &write_seal, &check_seal, nullptr);
}

}  // namespace tandem::inline v0::io::detail
