// generation.hpp: what one reading of the options has made; connections keep that which they began with.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tandem/io/tls/options.hpp>
#include <unordered_map>
#include <vector>

#include "tls/client_sessions.hpp"
#include "tls/handles.hpp"
#include "tls/key_log.hpp"
#include "tls/ticket_keys.hpp"

namespace tandem::inline v0::io::detail {

/// Not changed once it is made, but for what has a lock of its own.
class tls_generation {
 public:
  /// One of the certificates that can be shown, and all that goes with it.
  class face {
   public:
    context_handle context;
    certificate_handle certificate;  // null: a client that shows none
  };

  /// The first one is that of connections which have named none.
  SSL_CTX* context() const noexcept { return faces.front().context.get(); }
  /// The one of a server that is for that name. @returns null: none is
  SSL_CTX* context_for(std::string_view name) const;
  /// Adds a server's certificate, and the names that it is for, as far as no earlier one is.
  void add_face(face&& made);

  std::vector<face> faces;
  bool is_server = false;
  bool checks_peer = true;
  tls::handshake_home handshake_on = tls::handshake_home::workers;
  std::string protocols;  // as ALPN has them: each after its length
  std::unordered_map<std::string, std::size_t>
      by_name;  // faces; in lower case, a wildcard without *
  std::unique_ptr<tls_key_log> log;
  std::unique_ptr<tls_client_sessions> sessions;  // of a client
  std::shared_ptr<tls_ticket_keys> tickets;       // of a server: later generations have the same
  std::chrono::seconds ticket_lifetime{};         // likewise of a server
  bool requires_certificate = false;              // likewise
  /// Whose rules a client's certificate was checked by: a session of another number is not resumed.
  /// 0: no client is asked.
  std::uint64_t era = 0;
};

/// For ticket_seals.cpp. @param context  gets the callbacks that say what a ticket is good for
void check_tickets(SSL_CTX* context);

/// @throws  tls::error: bad_option, key_mismatch; std::bad_alloc
std::shared_ptr<tls_generation> build_client(const tls::client_options& options);
std::shared_ptr<tls_generation> build_server(const tls::server_options& options,
                                             std::shared_ptr<tls_ticket_keys> tickets);

}  // namespace tandem::inline v0::io::detail
