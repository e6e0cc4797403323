// socket_pair.hpp: a connection of the process with itself, by which one thread tells another one.
// SPDX-License-Identifier: MIT
#pragma once

#include <system_error>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

/// Both are the caller's to close. Neither blocks, and a byte is sent at once.
class socket_pair {
 public:
  native_descriptor reads = no_descriptor;
  native_descriptor writes = no_descriptor;
};

/// Windows has no pipes that can be asked whether they are ready, and no pairs of sockets. Nobody
/// else gets in between: whose connection is accepted is looked at.
result<socket_pair> make_socket_pair() noexcept;

}  // namespace tandem::inline v0::io::platform
