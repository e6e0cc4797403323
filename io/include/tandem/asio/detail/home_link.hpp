// home_link.hpp: what stands between a task in a foreign loop and those who end either.
// SPDX-License-Identifier: MIT
//
// Protocol foreign_homes: runtime/src/executors/README.md.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <tandem/detail/foreign_home.hpp>
#include <tandem/io/export.hpp>
#include <tandem/spawn.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0::detail {

/// Between a home and whoever ends its loop; outlives both.
///
/// @thread_safety  any thread
class TANDEM_IO_API home_link {
 public:
  explicit home_link(foreign_home& home) noexcept : home_(&home) {}

  /// The home has ended.
  void cut() noexcept;
  bool is_cut() noexcept;
  /// foreign_homes/end
  void end_loop() noexcept;
  /// After that: there is something to run.
  void call_end() noexcept;
  /// By whoever ends the loop. @returns whether there was something
  bool run_called() noexcept;
  /// Likewise: waits for anything to happen, but no longer than a moment.
  void wait_a_moment() noexcept;

 private:
  /// @returns  the home, held; null if it has ended, or is about to
  foreign_home* held_home() noexcept;

  std::mutex lock_;
  std::condition_variable changed_;
  foreign_home* home_;      // under the lock
  bool is_called_ = false;  // under the lock
};

/// How the task of a spawn_into() is stopped by others.
///
/// @thread_safety  any thread
class TANDEM_IO_API spawned_stop {
 public:
  void stop(stop_reason reason) noexcept;
  /// The task has been spawned.
  void know(join_handle<void>&& task) noexcept;
  /// Whether it has: then whoever waits is told of its end, even if it was removed before it began.
  bool is_known() const noexcept { return is_known_.load(std::memory_order_acquire); }

 private:
  void cancel(std::unique_lock<std::mutex>& hold, stop_reason reason) noexcept;

  std::mutex lock_;
  std::atomic<bool> is_known_{false};
  join_handle<void> task_;
  stop_reason asked_ = stop_reason::none;
};

}  // namespace tandem::inline v0::detail
