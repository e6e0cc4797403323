// control_group.hpp: how many CPUs the control groups of this process leave it.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <tandem/config.hpp>

namespace tandem::inline v0::platform {

/// CPUs that the tightest quota on the way from the process's groups up to their roots allows:
/// whole ones, since who uses more in a period is stopped for the rest of it; but at least one.
///
/// @param groups  a file like /proc/self/cgroup
/// @param mount   a folder like /sys/fs/cgroup: the root of version 2, and of version 1 with its
///                controller `cpu`
/// @returns       0 if there is no limit, or none that can be read
/// @throws        std::bad_alloc
/// @source        cgroups(7); cpu.max of version 2, cpu.cfs_quota_us and cpu.cfs_period_us of
///                version 1
TANDEM_API unsigned cpus_of_control_groups(const std::string& groups, const std::string& mount);

}  // namespace tandem::inline v0::platform
