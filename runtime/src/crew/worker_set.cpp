// worker_set.cpp: what all workers have done.
// SPDX-License-Identifier: MIT
#include "crew/worker_set.hpp"

namespace tandem::inline v0::detail {

std::uint64_t worker_set::items_taken() const noexcept {
  std::uint64_t sum = 0;
  for (const worker& each : all()) sum += each.items.read();
  return sum;
}

std::uint64_t worker_set::tasks_ended() const noexcept {
  std::uint64_t sum = 0;
  for (const worker& each : all()) sum += each.tasks.read();
  return sum;
}

}  // namespace tandem::inline v0::detail
