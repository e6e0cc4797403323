// observed_segment.hpp: what a thread knows of the segment that it runs, where tasks are observed. Protocol records: README.md beside this.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

#include <tandem/detail/thread_context.hpp>
#include <tandem/task_hooks.hpp>

namespace tandem::inline v0::detail {

class promise_base;
class task_observer;
class task_record;

/// records/queued. When the frame was queued, in nanoseconds of the runtime's clock; -1: it was not
/// marked.
std::int64_t queued_at(const promise_base& frame) noexcept;

/// records/names. The worker has taken its next item from another one. Its thread only.
void note_stolen(worker& self) noexcept;

/// While it lives the thread runs one job. It stands on the stack of whoever runs the job.
class observed_segment {
 public:
  /// Nobody's yet.
  explicit observed_segment(thread_context& context) noexcept
      : context_(context), outer_(std::exchange(context.observed, this)) {}
  /// @param of  whose segment begins; null: of a task that is not observed
  observed_segment(thread_context& context, task_record* of, std::int64_t queued_at_ns) noexcept;
  observed_segment(const observed_segment&) = delete;
  observed_segment& operator=(const observed_segment&) = delete;
  ~observed_segment() {
    if (of_ != nullptr) (void)end();
    if (ended_in_ != context_.next_segment) forget_turn();
    context_.observed = outer_;
  }

  /// records/segment. From here the thread runs a task that has not run before. @returns whose
  /// segment was interrupted, or null
  task_record* enter(task_record* first) noexcept;
  /// records/segment. The task that was entered has ended: the thread goes on with the interrupted
  /// one.
  void go_on_with(task_record* interrupted) noexcept;
  /// records/end. Its task has ended, and with it the segment: nobody's from now on. The record may
  /// be gone afterwards.
  void task_ends(task_outcome outcome) noexcept;
  task_record* of() const noexcept { return of_; }

 private:
  static constexpr std::int64_t not_read = -1;

  /// @param now_ns  not_read: records/clock says when
  void begin(task_record& of, std::int64_t queued_at_ns, bool is_first,
             std::int64_t now_ns) noexcept;
  /// @returns  what the clock said
  std::int64_t end() noexcept;
  void note_turn(std::int64_t now_ns) noexcept;
  /// records/clock. Something else runs here, or has since the last end.
  void forget_turn() noexcept;
  void tell_end(task_observer& observer, std::int64_t now_ns, std::int64_t ran_ns) noexcept;

  thread_context& context_;
  observed_segment* const outer_;
  task_record* of_ = nullptr;
  // records/clock. What was the thread's next number of a segment when the last one of ours ended;
  // 0: none has, or somebody runs who is not observed.
  std::uint64_t ended_in_ = 0;
  // Set from the first begin on.
  worker* worker_;  // of the task's runtime; null: the thread is none
  std::int64_t began_ns_;
  std::int64_t ended_ns_;  // records/clock
  union {
    task_event event_;  // only where the hooks are told: most of it is the same for all of them
  };
};

}  // namespace tandem::inline v0::detail
