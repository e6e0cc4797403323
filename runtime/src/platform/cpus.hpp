// cpus.hpp: how many CPUs there are for this process, and on which of them a thread runs.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <system_error>
#include <vector>

#include <tandem/config.hpp>

namespace tandem::inline v0::platform {

/// How many CPUs this process may use at a time, by each of those that limit it.
class cpu_limits {
 public:
  unsigned of_mask = 0;   ///< the calling thread's affinity mask; 0: unknown
  unsigned of_quota = 0;  ///< the control groups; 0: no limit
};

/// The thread that asks may have been placed by whoever made it; the main thread mostly is not.
enum class whose_mask : bool { this_threads, main_threads };

/// post: asked anew at each call (files are read): not for a hot path
cpu_limits limits_of_cpus(whose_mask whose) noexcept;
/// Of the machine, whoever may use them. post: at least 1
unsigned present_cpus() noexcept;
/// The seam of tests: files like /proc/self/cgroup, and a folder like /sys/fs/cgroup.
///
/// @throws  std::bad_alloc
TANDEM_API void read_control_groups_from(const std::string& groups, const std::string& mount);

/// The numbers of the CPUs in the calling thread's affinity mask.
///
/// @returns  rising numbers; none if the system does not tell
/// @throws   std::bad_alloc
std::vector<unsigned> allowed_cpus();
/// The calling thread, and those that it starts, run on these from now on.
///
/// pre: `cpus` is not empty
/// @returns  what the system answered; after a refusal the thread runs where it did
/// @throws   std::bad_alloc
[[nodiscard]] std::error_code place_this_thread(const std::vector<unsigned>& cpus);

}  // namespace tandem::inline v0::platform
