// task_counts.hpp: what the tasks of one name have done so far.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tandem::inline v0 {

/// Tasks that have a name, or none, in common: runtime_metrics::by_name. What a task does under one
/// name is counted there, though it is called otherwise later.
///
///     options.count_tasks_by_name = true;
///     tandem::runtime rt(options);
///     serve(rt);
///     for (const tandem::task_counts& each : rt.metrics().by_name) {
///       if (each.stalls != 0) log(each.name, each.stalls);
///     }
class task_counts {
 public:
  /// A segment that has run for so long is a stall.
  static constexpr std::chrono::milliseconds stalled_after{5};

  task_counts() = default;

  /// "": tasks that nobody has named. "other": those of all names beyond the first 256.
  std::string name;
  std::uint64_t ended = 0;   ///< tasks
  std::uint64_t waits = 0;   ///< how often one was queued again after it had been suspended
  std::uint64_t wakes = 0;   ///< how often one has queued another task that was suspended
  std::uint64_t stalls = 0;  ///< segments that kept their thread for `stalled_after` or longer
  std::uint64_t steals =
      0;  ///< how often a worker has taken one from another worker, to run it next
  std::chrono::nanoseconds run{};         ///< of segments that have ended
  std::chrono::nanoseconds queue_wait{};  ///< before segments that have begun
};

}  // namespace tandem::inline v0
