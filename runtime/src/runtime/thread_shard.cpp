// thread_shard.cpp: shards for threads that are no workers.
// SPDX-License-Identifier: MIT
#include "runtime/thread_shard.hpp"

#include <atomic>

namespace tandem::inline v0::detail {

std::size_t shard_of_outsider() noexcept {
  static constinit std::atomic<std::size_t> threads_seen{0};
  static constinit thread_local std::size_t mine = 0;  // plus one; 0: none yet
  // Relaxed: nothing but the number is passed on.
  if (mine == 0) mine = thread_shards - threads_seen.fetch_add(1, std::memory_order_relaxed) % 4;
  return mine - 1;
}

}  // namespace tandem::inline v0::detail
