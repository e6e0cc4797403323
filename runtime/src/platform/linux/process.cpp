// process.cpp: processes and fork() on Linux.
// SPDX-License-Identifier: MIT
#include "platform/process.hpp"

#include <unistd.h>

#include "platform/linux/debugger_scripts.hpp"
#include "platform/unix/fork_handlers.hpp"

namespace tandem::inline v0::platform {

int process_id() noexcept { return ::getpid(); }

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  bring_debugger_scripts();  // called by every program that has a runtime
  register_fork_handlers(before, in_parent, in_child);
}

}  // namespace tandem::inline v0::platform
