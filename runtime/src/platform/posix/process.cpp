// process.cpp: processes and fork(), across which the table of sleepers is locked.
// SPDX-License-Identifier: MIT
#include "platform/process.hpp"

#include <unistd.h>

#include "platform/posix/futex_fork.hpp"
#include "platform/unix/fork_handlers.hpp"

namespace tandem::inline v0::platform {

int process_id() noexcept { return ::getpid(); }

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  // lot/fork. First: so it is locked last, and unlocked before the others.
  register_fork_handlers(&lock_futexes, &unlock_futexes, &forget_sleepers);
  register_fork_handlers(before, in_parent, in_child);
}

}  // namespace tandem::inline v0::platform
