// thread_shard.hpp: which shard of a runtime's counters and lists the calling thread uses.
// SPDX-License-Identifier: MIT
//
// Only contention hangs on it: whoever reads what is sharded looks at all shards, so a thread may
// come to another shard when it becomes a worker, or ceases to be one.
#pragma once

#include <cstddef>

#include <tandem/worker_pool.hpp>

namespace tandem::inline v0::detail {

inline constexpr std::size_t thread_shards = 16;

/// Threads that are no workers share the last four, each its own as long as there are few.
std::size_t shard_of_outsider() noexcept;

/// A worker's own, as long as there are no more workers than shards.
inline std::size_t thread_shard() noexcept {
  const int index = current_worker_index();
  if (index >= 0) [[likely]]
    return static_cast<std::size_t>(index) % thread_shards;
  return shard_of_outsider();
}

}  // namespace tandem::inline v0::detail
