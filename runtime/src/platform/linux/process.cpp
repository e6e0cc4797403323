// process.cpp: processes and fork() on Linux.
// SPDX-License-Identifier: MIT
#include "platform/process.hpp"

#include <unistd.h>

#include "platform/unix/fork_handlers.hpp"

namespace tandem::inline v0::platform {

int process_id() noexcept { return ::getpid(); }

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  register_fork_handlers(before, in_parent, in_child);
}

}  // namespace tandem::inline v0::platform
