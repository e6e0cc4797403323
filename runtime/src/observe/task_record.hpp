// task_record.hpp: the times of one task that is observed. Protocol records: runtime/src/observe/README.md.
// SPDX-License-Identifier: MIT
//
// All of it is under a small lock: a coroutine that suspends may go on elsewhere before its thread
// has come back, and forked children run at the same time. At any moment the task is running, else
// queued, else suspended; what has passed since the last change is charged to what it was. So the
// three times add up to its life.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/environment.hpp>
#include <tandem/task_hooks.hpp>

#include "observe/name_counts.hpp"

namespace tandem::inline v0::detail {

class task_observer;

/// Any thread, as long as the task lives or one of its segments is open; the last of these deletes
/// it (records/end).
class task_record : public frame_allocated {
 public:
  /// What is to be noted of it.
  struct wishes {
    bool told;     // to the hooks
    bool timed;    // for the histograms
    bool counted;  // by name
  };

  task_record(task_observer& owner, const environment& task, std::int64_t now_ns,
              const wishes& wanted, name_counts::index number) noexcept
      : observer(owner),
        id(task.id()),
        spawned_at(task.spawned_at()),
        told(wanted.told),
        timed(wanted.timed),
        counted(wanted.counted),
        name_(task.name()),
        number_(number),
        since_ns_(now_ns),
        spawned_ns_(now_ns) {}

  void queued(std::int64_t now_ns) noexcept {
    const std::lock_guard lock(lock_);
    charge(now_ns);
    ++queued_;
  }
  /// records/charge. The first segment, not before the spawn. Without the lock: nobody else can
  /// know of the record before something of the task has run.
  std::uint64_t starts(std::int64_t now_ns) noexcept {
    queue_wait_ns_ = now_ns - since_ns_;
    since_ns_ = now_ns;
    queued_ = 0;
    running_ = 1;
    return segments_ = 1;
  }
  /// @param was_queued  false: it came from a lane of forked children, whose times nobody notes
  std::uint64_t segment_begins(std::int64_t now_ns, bool was_queued) noexcept {
    const std::lock_guard lock(lock_);
    charge(now_ns);
    if (was_queued) --queued_;
    ++running_;
    return ++segments_;
  }
  /// @returns  whether the caller deletes the record
  bool segment_ends(std::int64_t now_ns) noexcept {
    const std::lock_guard lock(lock_);
    charge(now_ns);
    return --running_ == 0 && ended_;
  }
  /// records/end. @param with_segment  the caller's segment ends, too
  /// @param totals           gets the times; may be null
  /// @returns  whether the caller deletes the record
  bool task_ends(std::int64_t now_ns, bool with_segment, task_event* totals) noexcept {
    // records/charge. All segments have begun before the task could end, and frames were queued
    // before that. So if there was but the caller's, nobody else has ever touched the record, nor
    // will.
    if (with_segment && segments_ == 1) return close(now_ns, true, totals);
    const std::lock_guard lock(lock_);
    return close(now_ns, with_segment, totals);
  }
  std::int64_t spawned_ns() const noexcept { return spawned_ns_; }

  /// Static text.
  const char* name() const noexcept { return name_.load(std::memory_order_relaxed); }
  /// records/names. Of its name.
  name_counts::index number() const noexcept { return number_.load(std::memory_order_relaxed); }
  /// By the task itself. Relaxed: whoever counts meanwhile counts for the one or the other.
  void rename(const char* text, name_counts::index number) noexcept {
    name_.store(text, std::memory_order_relaxed);
    number_.store(number, std::memory_order_relaxed);
  }

  task_observer& observer;
  const std::uint64_t id;
  const std::source_location spawned_at;
  const bool told;     // to the hooks
  const bool timed;    // for the histograms
  const bool counted;  // by name

 private:
  bool close(std::int64_t now_ns, bool with_segment, task_event* totals) noexcept {
    charge(now_ns);
    if (with_segment) --running_;
    ended_ = true;
    if (totals != nullptr) {
      totals->when = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(since_ns_));
      totals->queue_wait = std::chrono::nanoseconds(queue_wait_ns_);
      totals->run = std::chrono::nanoseconds(run_ns_);
      totals->suspended = std::chrono::nanoseconds(suspended_ns_);
      totals->segments = segments_;
    }
    return running_ == 0;
  }
  void charge(std::int64_t now_ns) noexcept {
    // Whoever has read the clock first may come to the lock last.
    const std::int64_t passed = std::max<std::int64_t>(0, now_ns - since_ns_);
    (running_ != 0 ? run_ns_ : (queued_ != 0 ? queue_wait_ns_ : suspended_ns_)) += passed;
    since_ns_ += passed;
  }

  std::atomic<const char*> name_;
  std::atomic<name_counts::index> number_;
  futex_mutex lock_;
  bool ended_ = false;
  std::uint32_t running_ = 0;  // segments that are open
  std::uint32_t queued_ = 1;   // frames in queues; at first the task itself
  std::uint64_t segments_ = 0;
  std::int64_t since_ns_;
  const std::int64_t spawned_ns_;
  std::int64_t queue_wait_ns_ = 0;
  std::int64_t run_ns_ = 0;
  std::int64_t suspended_ns_ = 0;
};

}  // namespace tandem::inline v0::detail
