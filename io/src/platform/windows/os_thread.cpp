// os_thread.cpp: a thread's number and its times.
// SPDX-License-Identifier: MIT
#include "platform/os_thread.hpp"

#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

namespace {

std::int64_t steps_of(const FILETIME& time) noexcept {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(time.dwHighDateTime) << 32) |
                                   time.dwLowDateTime);
}

}  // namespace

int number_of_this_thread() noexcept { return static_cast<int>(::GetCurrentThreadId()); }

int cpu_clock_of_this_thread() noexcept { return number_of_this_thread(); }

std::chrono::nanoseconds cpu_time_of(int cpu_clock) noexcept {
  if (cpu_clock == 0) return {};
  const HANDLE thread =
      ::OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(cpu_clock));
  if (thread == nullptr) return {};
  FILETIME begun{};
  FILETIME ended{};
  FILETIME kernel{};
  FILETIME user{};
  const bool told = ::GetThreadTimes(thread, &begun, &ended, &kernel, &user) != 0;
  // A number may be another thread's by now, but not one of another process.
  const bool is_ours = ::GetProcessIdOfThread(thread) == ::GetCurrentProcessId();
  ::CloseHandle(thread);
  constexpr std::int64_t ns_per_step = 100;
  if (!told || !is_ours) return {};
  return std::chrono::nanoseconds((steps_of(kernel) + steps_of(user)) * ns_per_step);
}

/// Windows tells of a thread's state only with those of all threads of the machine, which is no
/// call for whoever watches: what it would wait for is told by its CPU time alone.
bool is_blocked(int /*number*/) noexcept { return false; }

}  // namespace tandem::inline v0::io::platform
