// cpu_count.cpp: the count of CPUs for programs.
// SPDX-License-Identifier: MIT
#include <tandem/cpu_count.hpp>

#include "platform/cpus.hpp"

namespace tandem::inline v0 {

unsigned usable_cpus() noexcept { return platform::usable_cpus(); }

}  // namespace tandem::inline v0
