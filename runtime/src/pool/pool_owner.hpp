// pool_owner.hpp: what a pool asks of the runtime that it works for.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "observe/observer_slot.hpp"

namespace tandem::inline v0::detail {

/// Any thread. None of it is asked often.
class pool_owner {
 public:
  /// Tasks that have been spawned and have not ended.
  virtual std::size_t live() const noexcept = 0;
  /// submissions/end. Refuses what comes from outside; from now on each task's end looks whether it
  /// was the last.
  virtual void close() noexcept = 0;
  virtual void stop_all_roots() noexcept = 0;
  /// For people: how many tasks live, and where they were spawned. @throws std::bad_alloc
  virtual std::string describe_tasks() const = 0;
  /// changes/timing. Where its observer is, or is put by a change that begins to time tasks.
  virtual observer_slot& observers() noexcept = 0;
  /// deadlocks/idle. For half a second no worker has had anything to do. On a worker's thread.
  virtual void workers_are_idle() noexcept = 0;

 protected:
  ~pool_owner() = default;
};

}  // namespace tandem::inline v0::detail
