// pool_stats.hpp: what a pool says about itself. Any thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <tandem/worker_pool.hpp>

namespace tandem::inline v0::detail {

/// Each number is exact; together they are of about one moment.
worker_pool_stats stats_of(const worker_pool::impl& pool) noexcept;
/// A line for the pool, one for each worker, and the tasks that live. @throws std::bad_alloc
std::string description_of(const worker_pool::impl& pool);

}  // namespace tandem::inline v0::detail
