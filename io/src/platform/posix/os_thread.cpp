// os_thread.cpp: what POSIX does not tell of a thread.
// SPDX-License-Identifier: MIT
#include "platform/os_thread.hpp"

namespace tandem::inline v0::io::platform {

int number_of_this_thread() noexcept { return 0; }
bool is_blocked(int) noexcept { return false; }

}  // namespace tandem::inline v0::io::platform
