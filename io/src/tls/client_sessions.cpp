// client_sessions.cpp: keeping and taking.
// SPDX-License-Identifier: MIT
#include "tls/client_sessions.hpp"

#include <iterator>
#include <utility>

namespace tandem::inline v0::io::detail {

namespace {

/// So that no server pushes out those of all others.
constexpr std::size_t most_of_a_name = 16;

}  // namespace

void tls_client_sessions::erase(entries::iterator which) noexcept {
  const auto found = by_name_.find(which->name);
  std::erase(found->second, which);
  if (found->second.empty()) by_name_.erase(found);
  newest_first_.erase(which);
}

void tls_client_sessions::keep(const std::string& name, session_handle session) noexcept {
  try {
    const std::lock_guard held(lock_);
    entries fresh;
    fresh.push_front({name, std::move(session)});
    auto& of_name = by_name_[name];
    try {
      of_name.push_back(fresh.begin());
    } catch (...) {
      if (of_name.empty()) by_name_.erase(name);
      throw;
    }
    newest_first_.splice(newest_first_.begin(), fresh);
    if (of_name.size() > most_of_a_name) erase(of_name.front());
    while (newest_first_.size() > most_) erase(std::prev(newest_first_.end()));
  } catch (...) {  // no memory
  }
}

session_handle tls_client_sessions::take(const std::string& name) {
  const std::lock_guard held(lock_);
  for (auto found = by_name_.find(name); found != by_name_.end(); found = by_name_.find(name)) {
    const entries::iterator newest = found->second.back();
    SSL_SESSION* const session = newest->session.get();
    if (SSL_SESSION_is_resumable(session) == 1) {
      if (SSL_SESSION_get_protocol_version(session) < TLS1_3_VERSION) {
        SSL_SESSION_up_ref(session);
        return session_handle(session);
      }
      session_handle taken = std::move(newest->session);
      erase(newest);
      return taken;
    }
    erase(newest);
  }
  return nullptr;
}

}  // namespace tandem::inline v0::io::detail
