// home_link.hpp: what stands between a task in a foreign loop and those who end either.
// SPDX-License-Identifier: MIT
//
// Protocol foreign_homes: runtime/src/executors/README.md.
#pragma once

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
  /// First thing in the task: one that was cancelled before would never run, and tell nobody.
  void begin() noexcept;

 private:
  void pass_on() noexcept;

  std::mutex lock_;
  join_handle<void> task_;
  bool has_begun_ = false;
  stop_reason asked_ = stop_reason::none;
};

}  // namespace tandem::inline v0::detail
