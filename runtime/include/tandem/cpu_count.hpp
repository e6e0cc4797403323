// cpu_count.hpp: how many CPUs this process may really use.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// TANDEM_CPUS, if it is set to a number; else the affinity mask of the calling thread, limited by
/// the whole CPUs of the cgroup's quota (of 1.5 that is one: two threads that compute would be
/// stopped in each period of the quota). At least 1.
///
///     const unsigned cpus = tandem::usable_cpus();
///
/// @cost    reads a few files: keep the answer
/// @source  sched_getaffinity(2); cgroup v2 cpu.max, v1 cpu.cfs_quota_us
TANDEM_API unsigned usable_cpus() noexcept;

// Implementation
/// The default of pool_options::min_threads.
TANDEM_API unsigned usual_workers() noexcept;
/// How many CPUs the machine has, whoever may use them.
TANDEM_API unsigned present_cpus() noexcept;

namespace detail {

struct machine_cpus {
  unsigned usable;
  bool has_quota;  ///< whoever uses more is stopped
};
/// By the mask of the process's main thread (those that ask may be pinned) and the quota. Reads
/// files.
TANDEM_API machine_cpus cpus_of_machine() noexcept;
/// Whether TANDEM_CPUS says how many there are, whatever the machine says.
TANDEM_API bool cpus_are_told() noexcept;

}  // namespace detail

}  // namespace tandem::inline v0
