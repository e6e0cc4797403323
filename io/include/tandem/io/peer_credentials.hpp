// peer_credentials.hpp: which process, of which user, is at the other end of a Unix socket.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tandem::inline v0::io {

/// As the system vouches for it. A process may have ended since, and its number be another one's.
class peer_credentials {
 public:
  peer_credentials() noexcept = default;

  std::int64_t process = 0;  ///< 0: outside of this process's namespace, or not told by the system
  std::uint32_t user = 0;    ///< effective
  std::uint32_t group = 0;   ///< effective

  friend bool operator==(const peer_credentials&, const peer_credentials&) noexcept = default;
};

}  // namespace tandem::inline v0::io
