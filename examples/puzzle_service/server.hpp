// server.hpp: accepts connections until a signal comes, then ends them.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/task.hpp>

#include "service.hpp"

namespace service {

/// Serves until SIGINT or SIGTERM. Prints the address on stdout as soon as clients may connect.
///
/// @throws        std::system_error: the address cannot be bound
tandem::task<void> serve(service_state& service);

}  // namespace service
