// client_sessions.hpp: the sessions that a client can resume, by the name of the server.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "tls/handles.hpp"

namespace tandem::inline v0::io::detail {

/// The newest ones, whoever they are of.
///
/// @thread_safety  any thread
class tls_client_sessions {
 public:
  explicit tls_client_sessions(std::size_t most) noexcept : most_(most) {}

  /// Nothing where there is no memory: then one more handshake is done in full.
  void keep(const std::string& name, session_handle session) noexcept;
  /// The newest one of that server. One of TLS 1.3 goes: whoever used it twice could be recognised
  /// (RFC 8446, C.4).
  ///
  /// @returns  null: there is none
  session_handle take(const std::string& name);

 private:
  class entry {
   public:
    std::string name;
    session_handle session;
  };
  using entries = std::list<entry>;

  std::mutex lock_;
  std::size_t most_;
  entries newest_first_;
  std::unordered_map<std::string, std::vector<entries::iterator>> by_name_;  // the newest last

  void erase(entries::iterator which) noexcept;
};

}  // namespace tandem::inline v0::io::detail
