// clocks.cpp: CPU time, and the time stamp counter of x86-64 where it runs at one pace.
// SPDX-License-Identifier: MIT
#include "platform/clocks.hpp"

#include "platform/windows/system.hpp"

#if defined(__x86_64__) || defined(_M_X64)
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#include <x86intrin.h>
#endif
#endif

namespace tandem::inline v0::platform {

namespace {

std::int64_t steps_of(const FILETIME& time) noexcept {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(time.dwHighDateTime) << 32) |
                                   time.dwLowDateTime);
}

}  // namespace

std::chrono::nanoseconds cpu_time_of_process() noexcept {
  FILETIME begun{};
  FILETIME ended{};
  FILETIME kernel{};
  FILETIME user{};
  if (::GetProcessTimes(::GetCurrentProcess(), &begun, &ended, &kernel, &user) == 0) return {};
  return std::chrono::nanoseconds((steps_of(kernel) + steps_of(user)) * ns_per_step);
}

#if defined(__x86_64__) || defined(_M_X64)

namespace {

/// Intel SDM 18.17.1, AMD APM 13.2.4: at one pace in all power states. Windows brings the counters
/// of the CPUs in step when it starts, and takes them for its own clock where they are invariant.
bool is_invariant() noexcept {
  constexpr unsigned power_leaf = 0x80000007;
#if defined(_MSC_VER)
  int found[4] = {};
  __cpuid(found, static_cast<int>(0x80000000));
  if (static_cast<unsigned>(found[0]) < power_leaf) return false;
  __cpuid(found, static_cast<int>(power_leaf));
  return (static_cast<unsigned>(found[3]) & (1U << 8)) != 0;
#else
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(power_leaf, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
#endif
}

}  // namespace

bool has_ticks() noexcept {
  static const bool has = is_invariant();
  return has;
}

std::uint64_t ticks() noexcept { return __rdtsc(); }

#else

bool has_ticks() noexcept { return false; }
std::uint64_t ticks() noexcept { return 0; }

#endif

}  // namespace tandem::inline v0::platform
