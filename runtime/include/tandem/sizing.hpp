// sizing.hpp: how many threads a load needs.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include <tandem/config.hpp>
#include <tandem/cpu_count.hpp>

namespace tandem::inline v0 {

/// For items that only compute: one more than there are CPUs, so that none stands still when a
/// thread does.
///
/// @source  Goetz and others, "Java Concurrency in Practice", section 8.2
TANDEM_API unsigned recommended_threads() noexcept;

/// For items that wait, too: CPUs x utilisation x (1 + wait / compute), rounded up; at least 1.
///
///     using namespace std::chrono_literals;
///     tandem::runtime_options options;
///     options.min_threads = tandem::recommended_threads();
///     options.max_threads = tandem::recommended_threads(100ms, 10ms);  // 11 for each CPU
///
/// @param wait         of an item, on average, blocked
/// @param compute      of an item, on average, on a CPU; above 0
/// @param utilisation  the share of the CPUs that the load is to use: above 0, at most 1
/// @param cpus         at least 1
/// @returns            may be more than a pool can have (pool_options::max_threads)
/// @throws             std::invalid_argument naming the argument
TANDEM_API unsigned recommended_threads(std::chrono::nanoseconds wait,
                                        std::chrono::nanoseconds compute, double utilisation = 1,
                                        unsigned cpus = usable_cpus());

}  // namespace tandem::inline v0
