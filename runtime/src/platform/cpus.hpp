// cpus.hpp: how many CPUs there are for this process, and on which of them a thread runs.
// SPDX-License-Identifier: MIT
#pragma once

#include <system_error>
#include <vector>

namespace tandem::inline v0::platform {

/// CPUs of the affinity mask, limited by the quota of the control group.
///
/// post: at least 1. Asked anew at each call (files are read): not for a hot path
unsigned usable_cpus() noexcept;

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
