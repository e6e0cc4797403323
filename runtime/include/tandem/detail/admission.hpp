// admission.hpp: a spawned task's entry into the count of its home.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/config.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {

/// Counted in from here; counted out by its end, unless kept: then by the task's. Meanwhile the
/// virtual clock of a runtime without threads stands still (driving/clock), since what is counted
/// is about to be posted.
class admission {
 public:
  /// @throws  executor_closed
  explicit admission(executor& home) : home_(home.counts_tasks() ? &home : nullptr) {
    if (home_ != nullptr) [[unlikely]]
      visited_ = enter(home);
  }
  admission(const admission&) = delete;
  admission& operator=(const admission&) = delete;
  ~admission() {
    if (home_ == nullptr) [[likely]]
      return;
    home_->end_task();
    leave(visited_);
  }

  /// The task has been launched, and may have ended: the home is not touched any more.
  void keep() noexcept {
    if (home_ == nullptr) [[likely]]
      return;
    home_ = nullptr;
    leave(visited_);
  }

 private:
  // Static, so that what counts nowhere, as most spawns do, stays in registers.
  /// @returns whose end waits for leave(); null: nobody's
  TANDEM_API static tandem::runtime* enter(executor& home);
  TANDEM_API static void leave(tandem::runtime* visited) noexcept;
  [[noreturn]] TANDEM_API static void refuse(const executor& home);

  executor* home_;
  tandem::runtime* visited_ = nullptr;
};

}  // namespace detail

}  // namespace tandem::inline v0
