// cpu_count.cpp: the count of CPUs for programs.
// SPDX-License-Identifier: MIT
#include <tandem/cpu_count.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "platform/cpus.hpp"

namespace tandem::inline v0 {

namespace {

constexpr unsigned most_cpus = 1024;  // as many threads as a pool may have

/// What TANDEM_CPUS says, if it is a number; the options of a pool refuse anything else.
unsigned cpus_by_environment() noexcept {
  const char* const text = std::getenv("TANDEM_CPUS");
  if (text == nullptr) return 0;
  const std::string_view digits(text);
  unsigned value = 0;
  const auto [stopped, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_number = error == std::errc{} && stopped == digits.data() + digits.size();
  return is_number ? std::min(value, most_cpus) : 0;
}

unsigned whole_cpus(const platform::cpu_limits& limits) noexcept {
  const unsigned by_mask = std::max(1U, limits.of_mask);
  return limits.of_quota != 0 ? std::min(by_mask, limits.of_quota) : by_mask;
}

}  // namespace

unsigned usable_cpus() noexcept {
  if (const unsigned told = cpus_by_environment(); told != 0) return told;
  return whole_cpus(platform::limits_of_cpus(platform::whose_mask::this_threads));
}

detail::machine_cpus detail::cpus_of_machine() noexcept {
  const platform::cpu_limits limits = platform::limits_of_cpus(platform::whose_mask::main_threads);
  return {whole_cpus(limits), limits.of_quota != 0};
}

bool detail::cpus_are_told() noexcept { return cpus_by_environment() != 0; }

unsigned usual_workers() noexcept {
  // One that blocks must not be the only one; but two that compute would use up less than two CPUs.
  if (const unsigned told = cpus_by_environment(); told != 0) return told;
  const platform::cpu_limits limits = platform::limits_of_cpus(platform::whose_mask::this_threads);
  return std::max(limits.of_quota != 0 ? 1U : 2U, whole_cpus(limits));
}

unsigned present_cpus() noexcept { return platform::present_cpus(); }

}  // namespace tandem::inline v0
