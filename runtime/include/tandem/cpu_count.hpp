// cpu_count.hpp: how many CPUs this process may really use.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// The affinity mask of the process, limited by the cgroup's CPU quota (rounded up); at least 1.
///
///     const unsigned cpus = tandem::usable_cpus();
///
/// @cost    reads a few files: keep the answer
/// @source  sched_getaffinity(2); cgroup v2 cpu.max, v1 cpu.cfs_quota_us
TANDEM_API unsigned usable_cpus() noexcept;

}  // namespace tandem::inline v0
