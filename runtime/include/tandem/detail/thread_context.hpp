// thread_context.hpp: what the calling thread is doing for tandem.
// SPDX-License-Identifier: MIT
//
// One per thread, reached through this_thread() (platform/this_thread.hpp).
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>

#include <tandem/config.hpp>
#include <tandem/detail/platform/this_thread.hpp>
#include <tandem/detail/seen_value.hpp>
#include <tandem/environment.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0::detail {

class fork_lane;
class invoke_job;
class observed_segment;
class recorded_thread;
class trace_ring;
class worker;

/// Ready leaf awaits that a segment may take before it has to yield.
inline constexpr std::uint32_t await_budget = 128;

/// Frames of up to this many size classes are kept (frame_memory.hpp).
inline constexpr std::size_t frame_class_count = 32;

struct thread_context {
  /// @param no_magazine  what `frames` points to where there is no magazine yet
  constexpr explicit thread_context(void** no_magazine) noexcept { frames.fill(no_magazine); }
  thread_context(const thread_context&) = delete;
  thread_context& operator=(const thread_context&) = delete;

  // Read at every fork, join or await of a task.
  std::uint64_t segment = 0;          // calls/number: number of the running segment; 0: none runs
  bool child_done = false;            // calls/end_here: the child called last ended in this segment
  const char* stack_limit = nullptr;  // calls/limit: nested calls go no deeper than this address
  fork_lane* lane = nullptr;          // of current_worker
  const executor* lane_home = nullptr;  // the home whose forks go to `lane`; null: no lane
  std::coroutine_handle<> next = {};    // resumed by run_chain after the stack has unwound

  seen_value<environment*> env = nullptr;  // of the running segment; looks compare it
  invoke_job* stolen_call = nullptr;       // invoke/help: the one that this thread runs for another
  worker* current_worker = nullptr;        // set for the life of a pool thread
  executor* current_executor = nullptr;    // whose jobs this thread runs now
  const executor* layer = nullptr;  // the innermost executor over others that runs a job here
  observed_segment* observed =
      nullptr;  // records/queued: of the running job; null where no task is observed
  // recording/take. Where its events go, if it is a runtime's and tells the time by ticks; else
  // null, and the one that it has is only found by way of a recorder.
  trace_ring* ring = nullptr;
  trace_ring* own_ring = nullptr;         // the one that it has
  const recorded_thread* role = nullptr;  // of a runtime; null: a thread from outside
  bool fires_timers = false;              // inside timer_service::expire
  std::uint32_t budget = await_budget;
  seen_value<std::uint64_t> next_segment = 0;  // numbers are unique in the process,
  std::uint64_t segment_end = 0;               // and up to here this thread's

  // Of this thread: may magazines still be made?
  enum class keeping : std::uint8_t { unused, in_use, closed };
  keeping frames_kept = keeping::unused;
  std::array<void**, frame_class_count> frames;  // ends of the magazines (frame_memory.hpp)
};

/// Resumes `first` and then whatever each segment leaves in the next slot, until none is left. Each
/// of them runs in a segment of its own. Never called inside a segment: joins/next relies on it.
TANDEM_API void run_chain(thread_context& context, std::coroutine_handle<> first) noexcept;

/// Whether a frame with this home may go on in the running segment: not if that is a strand's, or
/// the like, and the home is what the strand runs on.
inline bool runs_here(const executor& home) noexcept {
  const executor* const layer = this_thread().layer;
  return layer != nullptr ? layer == &home : home.is_current();
}

/// Hands over to `next`: the return value is what await_suspend has to return.
TANDEM_ALWAYS_INLINE std::coroutine_handle<> transfer(std::coroutine_handle<> next) noexcept {
#if TANDEM_SYMMETRIC_TRANSFER
  return next;
#else
  this_thread().next = next;
  return std::noop_coroutine();
#endif
}

}  // namespace tandem::inline v0::detail
