// observing.hpp: what code that queues frames has to do where tasks are observed. records/make, records/queued.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/config.hpp>
#include <tandem/detail/recording.hpp>

namespace tandem::inline v0::detail {

class promise_base;

/// records/make, recording/ask. Whether any runtime of this process has hooks, times tasks, or
/// records.
inline bool tasks_are_observed() noexcept {
  // Relaxed: a task that is observed was spawned after the count, and its posts order the rest.
  return task_watchers.load(std::memory_order_relaxed) != 0;
}

/// records/queued, recording/write. The frame is about to be queued: writes the time into it, if its
/// task is observed, and an event, if that is recorded.
TANDEM_API void mark_queued(promise_base& frame) noexcept;

}  // namespace tandem::inline v0::detail
