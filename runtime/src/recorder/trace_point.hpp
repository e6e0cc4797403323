// trace_point.hpp: events of tasks are put into the calling thread's ring. Protocol recording: README.md beside this.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <tandem/detail/recording.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/environment.hpp>
#include <tandem/task_hooks.hpp>

#include "platform/fast_ticks.hpp"
#include "recorder/trace_ring.hpp"

namespace tandem::inline v0::detail {

/// recording/write. Also where there is no ring at hand: finds one (recording/take).
///
/// @returns  where the event went; null: the thread is not recorded
trace_ring* record_slowly(thread_context& context, trace_kind what,
                          const environment& task) noexcept;
/// recording/write
inline void record_event(thread_context& context, trace_kind what,
                         const environment& task) noexcept {
  trace_ring* const ring = context.ring;
  if (ring == nullptr) [[unlikely]] {
    (void)record_slowly(context, what, task);
  } else {
    ring->add(platform::fast_ticks(), trace_event::word(what, task.id()));
  }
}

/// A part of a task was made. pre: is_recorded()
void record_part(const environment& part) noexcept;
/// A task was spawned, and nobody else can know of it yet. pre: is_recorded()
void record_spawn(const environment& task) noexcept;
/// Before anybody hears of it. pre: is_recorded()
void record_task_end(const environment& task, task_outcome outcome) noexcept;
/// A task that was called by its joiner has ended; its runtime may be gone.
void record_back(thread_context& context) noexcept;

/// The job has ended that a begin event was written for. The thread is a runtime's.
inline void record_end(thread_context& context) noexcept {
  // It may be a worker no more: in a child of fork().
  if (trace_ring* const ring = context.ring)
    ring->add(platform::fast_ticks(), trace_event::word(trace_kind::end, 0));
}

/// While it lives the thread runs a job.
class recorded_job {
 public:
  explicit recorded_job(thread_context& context) noexcept : context_(context) {}
  recorded_job(thread_context& context, const environment* task) noexcept : context_(context) {
    if (is_recorded() && task != nullptr) begins(*task);
  }
  recorded_job(const recorded_job&) = delete;
  recorded_job& operator=(const recorded_job&) = delete;
  /// The runtime may be gone; the ring is there.
  ~recorded_job() {
    if (in_ != nullptr) end();
  }

  /// pre: is_recorded()
  void begins(const environment& task) noexcept {
    in_ = record_slowly(context_, trace_kind::begin, task);
  }

 private:
  void end() noexcept;

  thread_context& context_;
  trace_ring* in_ = nullptr;
};

}  // namespace tandem::inline v0::detail
