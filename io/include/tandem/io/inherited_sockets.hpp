// inherited_sockets.hpp: sockets that a service manager has opened for this process.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <tandem/io/export.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <utility>
#include <vector>

namespace tandem::inline v0::io {

class inherited_socket {
 public:
  inherited_socket(std::string given_name, owned_descriptor given) noexcept
      : name(std::move(given_name)), descriptor(std::move(given)) {}

  std::string name;  ///< as the manager calls it (FileDescriptorName=); "unknown" if it does not
  owned_descriptor descriptor;  ///< close-on-exec
};

/// Takes over what systemd, or whoever does as it does, has passed on: LISTEN_FDS descriptors from 3
/// on, if LISTEN_PID is this process. The variables are removed, so that no child takes them for its
/// own, and a second call finds nothing.
///
///     for (auto& each : tandem::io::inherited_sockets()) {
///       if (each.name == "web") web = tcp_listener::from_native(std::move(each.descriptor));
///     }
///
/// @returns        nothing if nothing was passed on; always so on Windows
/// @throws         std::system_error: invalid_argument (LISTEN_FDS is no number),
///                 bad_file_descriptor (one of them is not open): then none is taken;
///                 std::bad_alloc
/// @thread_safety  before other threads read or write the environment: at the beginning of main()
/// @source         man page sd_listen_fds(3)
TANDEM_IO_API std::vector<inherited_socket> inherited_sockets();

}  // namespace tandem::inline v0::io
