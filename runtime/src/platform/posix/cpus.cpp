// cpus.cpp: how many CPUs there are, which is all that POSIX systems have in common.
// SPDX-License-Identifier: MIT
#include "platform/cpus.hpp"

#include <unistd.h>

#include <algorithm>

namespace tandem::inline v0::platform {

namespace {

unsigned count_of(int name) noexcept {
  return static_cast<unsigned>(std::max(0L, ::sysconf(name)));
}

}  // namespace

cpu_limits limits_of_cpus(whose_mask) noexcept {
  cpu_limits limits;
  limits.of_mask = count_of(_SC_NPROCESSORS_ONLN);  // no thread's mask is told: all that run
  return limits;
}

unsigned present_cpus() noexcept { return std::max(1U, count_of(_SC_NPROCESSORS_CONF)); }

std::vector<unsigned> allowed_cpus() { return {}; }

std::error_code place_this_thread(const std::vector<unsigned>& cpus) {
  TANDEM_ASSERT(!cpus.empty(), "a thread is placed on no CPU at all");
  return std::make_error_code(std::errc::not_supported);
}

}  // namespace tandem::inline v0::platform
