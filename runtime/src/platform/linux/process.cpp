// process.cpp: processes and fork() on Linux.
// SPDX-License-Identifier: MIT
#include "platform/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <system_error>

namespace tandem::inline v0::platform {

int process_id() noexcept { return ::getpid(); }

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  if (const int error = ::pthread_atfork(before, in_parent, in_child); error != 0) {
    throw std::system_error(error, std::system_category(), "tandem: pthread_atfork failed");
  }
}

}  // namespace tandem::inline v0::platform
