// observed_segment.hpp: what a thread knows of the segment that it runs, where tasks are observed. M1-M5.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

class promise_base;
class task_record;
struct thread_context;

/// M1. How many runtimes of this process have hooks, or time tasks.
TANDEM_API extern std::atomic<std::uint32_t> observing_runtimes;

inline bool tasks_are_observed() noexcept {
  // Relaxed: a task that is observed was spawned after the count, and its posts order the rest.
  return observing_runtimes.load(std::memory_order_relaxed) != 0;
}

/// M2. The frame is about to be queued: writes the time into it, if its task is observed.
TANDEM_API void mark_queued(promise_base& frame) noexcept;
/// M2. When the frame was queued, in nanoseconds of the runtime's clock; -1: it was not marked.
std::int64_t queued_at(const promise_base& frame) noexcept;

/// While it lives the thread runs one job. It stands on the stack of whoever runs the job.
class observed_segment {
 public:
  /// @param of  whose segment begins; null: nobody's yet, or of a task that is not observed
  observed_segment(thread_context& context, task_record* of, std::int64_t queued_at_ns) noexcept;
  observed_segment(const observed_segment&) = delete;
  observed_segment& operator=(const observed_segment&) = delete;
  ~observed_segment();

  /// M4. From here the thread runs a task that has not run before. @returns whose segment was interrupted, or null
  task_record* enter(task_record* first) noexcept;
  /// M4. The task that was entered has ended: the thread goes on with the interrupted one.
  void go_on_with(task_record* interrupted) noexcept;
  task_record* of() const noexcept { return of_; }
  /// M5. The task has ended, and with it this segment: nobody's from now on.
  void leave() noexcept { of_ = nullptr; }
  std::int64_t began_ns() const noexcept { return began_ns_; }
  std::uint64_t number() const noexcept { return number_; }
  bool is_visitor() const noexcept { return is_visitor_; }

 private:
  void begin(task_record& of, std::int64_t queued_at_ns, bool is_first) noexcept;
  void end() noexcept;

  thread_context& context_;
  observed_segment* const outer_;
  task_record* of_ = nullptr;
  std::int64_t began_ns_ = 0;
  std::uint64_t number_ = 0;  // of the segments of its task
  bool is_visitor_ = false;   // the thread is no worker of the task's runtime
};

}  // namespace tandem::inline v0::detail
