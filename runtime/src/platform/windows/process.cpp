// process.cpp: the process on Windows, which has no fork().
// SPDX-License-Identifier: MIT
#include "platform/process.hpp"

#include "platform/windows/system.hpp"

namespace tandem::inline v0::platform {

int process_id() noexcept { return static_cast<int>(::GetCurrentProcessId()); }

void at_fork(void (*)(), void (*)(), void (*)()) {}

}  // namespace tandem::inline v0::platform
