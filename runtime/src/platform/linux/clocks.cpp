// clocks.cpp: the time stamp counter of x86-64 where Linux itself trusts it.
// SPDX-License-Identifier: MIT
#include "platform/clocks.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <x86intrin.h>

#include <array>
#include <string_view>
#endif

namespace tandem::inline v0::platform {

#if defined(__x86_64__)

namespace {

/// Intel SDM 18.17.1, AMD APM 13.2.4: at one pace in all power states.
bool is_invariant() noexcept {
  constexpr unsigned power_leaf = 0x80000007;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(power_leaf, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}

/// prctl(2), PR_SET_TSC: a process may have it forbidden, and dies of reading it then.
bool is_allowed() noexcept {
  int mode = 0;
  return ::prctl(PR_GET_TSC, &mode) == 0 && mode == PR_TSC_ENABLE;
}

/// The kernel has compared it between the CPUs, and goes on comparing it with other clocks.
bool is_trusted_by_kernel() noexcept {
  const int file = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                          O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 16> text{};
  const ssize_t count = ::read(file, text.data(), text.size());
  ::close(file);
  return count > 0 && std::string_view(text.data(), static_cast<std::size_t>(count)) == "tsc\n";
}

}  // namespace

bool has_ticks() noexcept {
  static const bool has = is_invariant() && is_allowed() && is_trusted_by_kernel();
  return has;
}

std::uint64_t ticks() noexcept { return __rdtsc(); }

#else

bool has_ticks() noexcept { return false; }
std::uint64_t ticks() noexcept { return 0; }

#endif

}  // namespace tandem::inline v0::platform
