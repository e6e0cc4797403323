// task_hooks.hpp: functions that hear of each task, and of each segment of it.
// SPDX-License-Identifier: MIT
//
// Three times are kept apart, for each task and not for a thread, so that it does not matter where
// a task goes on: it waits in queues, it runs, or it is suspended. At its end they add up to how
// long it has lived, exactly. What counts as which: runtime/src/observe/README.md,
// protocol records.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <source_location>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// How a task ended.
enum class task_outcome : std::uint8_t {
  running,    ///< it has not
  completed,  ///< with a value
  failed,     ///< with an exception
  cancelled,  ///< by operation_cancelled, after it was asked to stop
  removed,    ///< it never ran: cancelled in its queue, discarded, given back by shutdown_now()
};

/// "running", "completed", ...
TANDEM_API const char* to_string(task_outcome outcome) noexcept;

/// What a hook is told.
class TANDEM_API task_event {
 public:
  using duration = std::chrono::nanoseconds;

  task_event() noexcept = default;

  std::uint64_t id = 0;             ///< of the task; unique in the process
  const char* name = "";            ///< never null
  std::source_location spawned_at;  ///< the line that spawned it
  int worker = -1;                  ///< index within its pool; -1: the thread is no worker
  std::chrono::steady_clock::time_point when;  ///< by the clock of the runtime, to a microsecond
  /// In queues: of a segment, before it; of a task at its begin, since it was spawned; at its end,
  /// in all.
  duration queue_wait{};
  duration run{};              ///< of a segment, after it; of a task, at its end
  duration suspended{};        ///< of a task, at its end: neither queued nor running
  std::uint64_t segments = 0;  ///< that have begun, this one included
  task_outcome outcome = task_outcome::running;  ///< at a task's end
};

/// Functions that a runtime calls; any of them may be empty. The member `hooks` of runtime_options.
///
///     std::vector<tandem::task_event> slow;
///     tandem::runtime_options options;
///     options.hooks.on_task_end = [&slow](const tandem::task_event& task) {
///       if (task.run > std::chrono::milliseconds(100)) slow.push_back(task);
///     };
///     tandem::runtime rt(options);
///
/// A *task* is what spawn(), submit(), a scope's spawn(), run() or sync_wait() starts, with all
/// that it awaits or forks. A *segment* is what one job out of a queue runs of it. Children forked
/// onto their parent's stack belong to the parent's segment; a forked child that another worker has
/// taken is a segment of the same task, without queue_wait. While several segments of a task run at
/// once its time counts once, as run.
///
/// Order: on_task_begin, before_segment, after_segment, ..., after_segment, on_task_end, which is
/// called before anybody hears of the end. Segments of a task that suspended may meet: it may go
/// on, or end, elsewhere before the thread that ran it has come back, and then after_segment of the
/// first is called after that. Each before_segment has its after_segment, on the same thread. A
/// task that never ran has an end and no begin (task_outcome::removed); one that the pool refused
/// by throwing `rejected` was none.
///
/// They are called on the thread that runs the task, in the middle of its work: be short, and never
/// block. What they throw goes to runtime_options::on_suppressed_exception. They may spawn, and
/// post. What they take counts as run: of the segment that is about to go on, or of the next one,
/// if the worker takes that at once.
///
/// @cost  none set: five instructions of a spawn. Else, for a task that does not wait, two readings
///        of the clock and no lock: some 70 ns with one set or all four; of tasks of a microsecond
///        7 %, with one_in = 16 2 %. A wait costs two readings and three short locks more
class TANDEM_API task_hooks {
 public:
  using hook = std::function<void(const task_event&)>;

  task_hooks() = default;

  hook on_task_begin;   ///< before its first segment
  hook before_segment;  ///< it is about to go on
  hook after_segment;   ///< it was suspended, or has ended
  hook on_task_end;     ///< of each task, once
  /// One task in so many is told of, chosen by a hash of its id. At least 1.
  std::uint32_t one_in = 1;

  /// Whether any function is set.
  bool any() const noexcept {
    return on_task_begin || before_segment || after_segment || on_task_end;
  }
};

}  // namespace tandem::inline v0
