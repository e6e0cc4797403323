// recording.hpp: what code that runs tasks, or sleeps for them, tells a recorder. Protocol recording: runtime/src/recorder/README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {

/// recording/ask. Who wants to hear of tasks in this process. The low half counts runtimes that
/// have hooks, or time tasks (records/make); the high half counts recorders that are on.
TANDEM_API extern std::atomic<std::uint32_t> task_watchers;
inline constexpr std::uint32_t one_recorder = std::uint32_t{1} << 16;

/// recording/ask
inline bool is_recorded() noexcept {
  // Relaxed: whoever reads an old value misses an event, or looks for a recorder in vain.
  return task_watchers.load(std::memory_order_relaxed) >= one_recorder;
}

/// Whether any task may have a record (records/make).
inline bool any_records() noexcept {
  // Relaxed: a task with a record was spawned after the count, and its posts order the rest.
  return (task_watchers.load(std::memory_order_relaxed) & (one_recorder - 1)) != 0;
}

/// What an event says; its number is in the ring (trace_event.hpp).
enum class trace_kind : std::uint8_t {
  none,
  queued,    ///< a suspended frame of a task was queued
  begin,     ///< a job begins to run it
  end,       ///< the job has ended: all segments that it had begun are over
  name,      ///< of the event before
  place,     ///< likewise
  part,      ///< what a part of a task is a part of
  spawn,     ///< a task was spawned; its name and its place follow. The first one with a long kind
  task_end,  ///< it has ended; its name and its place follow
  call,      ///< a joiner runs it on top of its own segment
  back,      ///< the call has ended, and the task with it
  role,      ///< who the thread is from here on
  park,      ///< a worker lies down, or a completion thread waits
  wake,      ///< it has got up
  rouse,     ///< a worker is woken; which one
  steal,     ///< a worker has taken jobs of another one; how many, and whose
  look,      ///< a completion thread has looked at its ring; how much came, and was submitted
};

/// Who a thread of a runtime is. Lives longer than the thread calls itself so.
class recorded_thread {
 public:
  /// timers: who fires them, and is none of the others.
  enum class role : std::uint8_t { outside, worker, completion, timers };

  recorded_thread(tandem::runtime& owner, role what, unsigned index) noexcept
      : of(owner), is(what), number(index) {}

  tandem::runtime& of;
  const role is;
  const unsigned number;
};

/// The calling thread is one of a runtime's, until its end.
class TANDEM_API recorded_here {
 public:
  explicit recorded_here(const recorded_thread& who) noexcept;
  recorded_here(const recorded_here&) = delete;
  recorded_here& operator=(const recorded_here&) = delete;
  ~recorded_here();

 private:
  const recorded_thread* const before_;
};

/// recording/write. Something of the calling thread's loop, which is one of a runtime's.
///
/// @param first, second  below 2^28
TANDEM_API void record_loop(trace_kind what, std::uint64_t first = 0,
                            std::uint64_t second = 0) noexcept;

/// recording/stall. A pool of that runtime is stuck: its trace becomes a file, if it is recorded, and
/// that is wanted and due.
TANDEM_API void record_stall(tandem::runtime& owner) noexcept;

/// While it lives the calling thread of a runtime lies down.
class recorded_rest {
 public:
  /// @param is_told  whether that is an event
  explicit recorded_rest(bool is_told = true) noexcept : is_told_(is_told && is_recorded()) {
    if (is_told_) [[unlikely]]
      record_loop(trace_kind::park);
  }
  recorded_rest(const recorded_rest&) = delete;
  recorded_rest& operator=(const recorded_rest&) = delete;
  ~recorded_rest() {
    if (is_told_) [[unlikely]]
      record_loop(trace_kind::wake);
  }

 private:
  const bool is_told_;
};

}  // namespace detail
}  // namespace tandem::inline v0
