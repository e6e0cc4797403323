// observing.hpp: what code that queues frames has to do where tasks are observed. records/make, records/queued.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

class promise_base;

/// records/make. How many runtimes of this process have hooks, or time tasks.
TANDEM_API extern std::atomic<std::uint32_t> observing_runtimes;

inline bool tasks_are_observed() noexcept {
  // Relaxed: a task that is observed was spawned after the count, and its posts order the rest.
  return observing_runtimes.load(std::memory_order_relaxed) != 0;
}

/// records/queued. The frame is about to be queued: writes the time into it, if its task is
/// observed.
TANDEM_API void mark_queued(promise_base& frame) noexcept;

}  // namespace tandem::inline v0::detail
