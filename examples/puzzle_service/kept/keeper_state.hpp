// keeper_state.hpp: how the keeping of answers stands: for /stats, /metrics and people.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace service {

enum class database_state : std::uint8_t {
  none,     ///< nothing is kept
  unknown,  ///< it has not been reached yet, nor has that failed
  there,
  away,  ///< the last call has failed; it is tried again
};

class keeper_state {
 public:
  keeper_state() = default;

  database_state database = database_state::none;
  std::string where;            ///< what and where the store is
  std::int64_t away_since = 0;  ///< in seconds since 1970, UTC
  std::string reason;           ///< of its being away, in a line

  std::uint64_t kept = 0;         ///< written to the store
  std::uint64_t from_memory = 0;  ///< requests that were answered by what was in memory
  std::uint64_t from_store = 0;   ///< likewise by the store
  std::uint64_t waiting = 0;      ///< to be written
  std::uint64_t given_up = 0;     ///< there was no room for them to wait, or they were too long
  std::uint64_t attempts = 0;     ///< to reach a store that was away

  /// "there", "away since 2026-01-31T12:00:00Z: no route to host".
  std::string in_words() const;
};

/// "2026-01-31T12:00:00Z"
std::string time_text(std::int64_t seconds);

}  // namespace service
