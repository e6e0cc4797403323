// binding.hpp: a Unix socket is given its name, or it is said what is in the way.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tandem/io/detail/local_name.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/unix_endpoint.hpp>

#include "platform/local_sockets.hpp"

namespace tandem::inline v0::io {

/// What is said of a path when a socket is bound to it.
class path_wishes {
 public:
  bool replaces_stale = true;
  bool removes_at_close = true;
  std::optional<std::uint32_t> permissions;
};

/// @returns  what is to be removed at its end
/// @throws   std::system_error that begins with `what`, and says what to do about it
detail::local_name bind_name(detail::socket& socket, platform::local_kind kind,
                             const unix_endpoint& address, const path_wishes& wishes,
                             const std::string& what);

/// As above, with what the options of a listener, or of a datagram socket, say of the path.
template <class Options>
detail::local_name bind_name(detail::socket& socket, platform::local_kind kind,
                             const unix_endpoint& address, const Options& options,
                             const std::string& what) {
  path_wishes wishes;
  wishes.replaces_stale = options.replaces_stale;
  wishes.removes_at_close = options.removes_at_close;
  wishes.permissions = options.permissions;
  return bind_name(socket, kind, address, wishes, what);
}

}  // namespace tandem::inline v0::io
