// cpus.cpp: affinity masks and job objects on Windows.
// SPDX-License-Identifier: MIT
#include "platform/cpus.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstddef>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::platform {

namespace {

/// Threads of a program that says nothing run in one group of at most 64 CPUs.
GROUP_AFFINITY affinity_of_this_thread() noexcept {
  GROUP_AFFINITY affinity{};
  if (::GetThreadGroupAffinity(::GetCurrentThread(), &affinity) == 0) affinity.Mask = 0;
  return affinity;
}

/// Windows tells no thread's mask by the number of a process: that of the process stands for its
/// main thread's.
KAFFINITY mask_of_process() noexcept {
  DWORD_PTR process = 0;
  DWORD_PTR system = 0;
  if (::GetProcessAffinityMask(::GetCurrentProcess(), &process, &system) == 0) return 0;
  return process;
}

/// The limit that the job of this process, if it has one, sets to its share of all CPUs.
unsigned cpus_of_job() noexcept {
  JOBOBJECT_CPU_RATE_CONTROL_INFORMATION rate{};
  if (::QueryInformationJobObject(nullptr, JobObjectCpuRateControlInformation, &rate, sizeof rate,
                                  nullptr) == 0) {
    return 0;
  }
  constexpr DWORD limiting =
      JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
  if ((rate.ControlFlags & limiting) != limiting) return 0;
  constexpr std::uint64_t all = 10'000;  // CpuRate is in hundredths of a percent of all CPUs
  return static_cast<unsigned>(
      std::max<std::uint64_t>(std::uint64_t{rate.CpuRate} * present_cpus() / all, 1));
}

constexpr unsigned cpus_in_group = sizeof(KAFFINITY) * CHAR_BIT;

}  // namespace

cpu_limits limits_of_cpus(whose_mask whose) noexcept {
  cpu_limits limits;
  KAFFINITY mask = whose == whose_mask::main_threads ? mask_of_process() : 0;
  if (mask == 0) mask = affinity_of_this_thread().Mask;
  limits.of_mask = static_cast<unsigned>(std::popcount(mask));
  limits.of_quota = cpus_of_job();
  return limits;
}

unsigned present_cpus() noexcept {
  return std::max<unsigned>(::GetActiveProcessorCount(ALL_PROCESSOR_GROUPS), 1);
}

std::vector<unsigned> allowed_cpus() {
  const GROUP_AFFINITY affinity = affinity_of_this_thread();
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < cpus_in_group; ++cpu) {
    if ((affinity.Mask >> cpu & 1U) != 0) cpus.push_back(affinity.Group * cpus_in_group + cpu);
  }
  return cpus;
}

std::error_code place_this_thread(const std::vector<unsigned>& cpus) {
  TANDEM_ASSERT(!cpus.empty(), "a thread is placed on no CPU at all");
  GROUP_AFFINITY affinity{};
  affinity.Group = static_cast<WORD>(cpus.front() / cpus_in_group);
  for (const unsigned cpu : cpus) {
    if (cpu / cpus_in_group != affinity.Group)
      return std::make_error_code(std::errc::invalid_argument);
    affinity.Mask |= KAFFINITY{1} << cpu % cpus_in_group;
  }
  if (::SetThreadGroupAffinity(::GetCurrentThread(), &affinity, nullptr) != 0) return {};
  return last_error();
}

}  // namespace tandem::inline v0::platform
