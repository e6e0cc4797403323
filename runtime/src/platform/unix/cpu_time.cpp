// cpu_time.cpp: CPU time by the clock of POSIX.
// SPDX-License-Identifier: MIT
#include <ctime>

#include "platform/clocks.hpp"

namespace tandem::inline v0::platform {

std::chrono::nanoseconds cpu_time_of_process() noexcept {
  timespec used{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace tandem::inline v0::platform
