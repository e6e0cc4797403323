// fork_handlers.hpp: what runs around every fork().
// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

#include <system_error>

namespace tandem::inline v0::platform {

/// Those that are registered later run earlier before the fork, and later after it.
///
/// @throws  std::system_error
inline void register_fork_handlers(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  if (const int error = ::pthread_atfork(before, in_parent, in_child); error != 0) {
    throw std::system_error(error, std::system_category(), "tandem: pthread_atfork failed");
  }
}

}  // namespace tandem::inline v0::platform
