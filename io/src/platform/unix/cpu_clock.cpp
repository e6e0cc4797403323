// cpu_clock.cpp: the CPU time of a thread, where threads have a clock for it.
// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "platform/os_thread.hpp"

namespace tandem::inline v0::io::platform {

#if defined(_POSIX_THREAD_CPUTIME) && _POSIX_THREAD_CPUTIME >= 0

int cpu_clock_of_this_thread() noexcept {
  clockid_t clock = 0;
  return ::pthread_getcpuclockid(::pthread_self(), &clock) == 0 ? clock : 0;
}

std::chrono::nanoseconds cpu_time_of(int cpu_clock) noexcept {
  timespec used{};
  if (cpu_clock == 0 || ::clock_gettime(cpu_clock, &used) != 0) return {};
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

#else

int cpu_clock_of_this_thread() noexcept { return 0; }
std::chrono::nanoseconds cpu_time_of(int) noexcept { return {}; }

#endif

}  // namespace tandem::inline v0::io::platform
