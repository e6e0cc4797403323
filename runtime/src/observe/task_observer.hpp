// task_observer.hpp: chooses the tasks of a runtime that are observed, calls its hooks, keeps its histograms.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <tandem/detail/own_counter.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/detail/timer_service.hpp>
#include <tandem/duration_histogram.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task_hooks.hpp>

#include "observe/parts_by_worker.hpp"
#include "observe/task_record.hpp"
#include "observe/tick_clock.hpp"
#include "platform/clocks.hpp"

namespace tandem::inline v0::detail {

/// Exists only where there are hooks, or tasks are timed, or have been recorded. Its runtime ends after the last segment
/// has (records/end).
class task_observer {
 public:
  /// @returns  null if the options ask for none
  static std::unique_ptr<task_observer> make(tandem::runtime& owner, worker_pool& pool,
                                             const pool_options& options, bool is_real_time);
  /// The owner and its pool may be about to be made.
  task_observer(tandem::runtime& owner, worker_pool& pool, const pool_options& options,
                bool is_real_time);
  task_observer(const task_observer&) = delete;
  task_observer& operator=(const task_observer&) = delete;
  ~task_observer();

  /// records/make. A task is launched. @returns its record; null: it is not one of those that are
  /// observed
  task_record* task_spawned(const environment& task) noexcept;
  /// records/end. Told before anybody else hears of the end. The record may be gone afterwards.
  static void task_ended(task_record& of, task_outcome outcome) noexcept;

  void tell_task_begin(const task_event& of) noexcept { tell(hooks_.on_task_begin, of); }
  void tell_segment_begin(const task_event& of) noexcept { tell(hooks_.before_segment, of); }
  void tell_segment_end(const task_event& of) noexcept { tell(hooks_.after_segment, of); }
  void tell_task_end(const task_event& of) noexcept { tell(hooks_.on_task_end, of); }
  /// records/histogram. @param on  null: by a thread that is no worker of the runtime
  void count_wait(const worker* on, std::int64_t time_ns) noexcept { count(on, true, time_ns); }
  void count_run(const worker* on, std::int64_t time_ns) noexcept { count(on, false, time_ns); }

  std::int64_t now_ns() noexcept {
    return is_real_time() ? ticks_.now_ns() : timers_of(owner_).now().time_since_epoch().count();
  }
  /// records/clock. False: by a virtual clock, which is read wherever a time is needed.
  bool is_real_time() const noexcept { return is_real_time_; }

  /// records/names. What a task that is counted has done. The caller is `on`; null: no worker.
  void count(const worker* on, const task_record& of, name_counts::what kind,
             std::uint64_t n = 1) noexcept {
    // Acquire: pairs with count_by_name(). A task that is counted was spawned after that.
    names_.load(std::memory_order_acquire)->add(on, of.number(), kind, n);
  }
  /// As above, of a segment that has ended.
  void count_segment(const worker* on, const task_record& of, std::int64_t ran_ns) noexcept;
  /// The task is called so from now on.
  void rename(task_record& of, const char* name) noexcept;

  /// The calling thread as a worker of the runtime; null: it is none.
  worker* worker_of(const thread_context& context) const noexcept;
  // records/end. A thread that is no worker of the pool has a segment open.
  void visitor_came() noexcept { visitors_.fetch_add(1, std::memory_order_relaxed); }
  void visitor_leaves() noexcept {
    visitors_.fetch_sub(1, std::memory_order_release);  // the last access; pairs with the next one
  }
  void wait_for_visitors() const noexcept;

  /// Whether the histograms hold anything, or will.
  bool times_tasks() const noexcept { return has_timed_.load(std::memory_order_relaxed); }
  /// changes/timing. Of the tasks that are spawned from now on. 0: none; what has been counted
  /// stays.
  void time_one_in(std::uint32_t one_in) noexcept {
    if (one_in != 0) {
      watch();  // before the first task that is timed
      has_timed_.store(true, std::memory_order_relaxed);
    }
    times_one_in_.store(one_in, std::memory_order_relaxed);  // a choice; nothing goes with it
  }
  void add_times(duration_histogram& queue_wait, duration_histogram& run) const noexcept;
  /// changes/timing. So that count_by_name() cannot fail. @throws std::bad_alloc
  void make_names();
  /// changes/timing. Of the tasks that are spawned from now on. pre: make_names(), if it is on
  void count_by_name(bool on) noexcept;
  /// Whether tasks are counted by name, or ever were.
  bool counts_by_name() const noexcept { return names_.load(std::memory_order_acquire) != nullptr; }
  /// @throws  std::bad_alloc
  std::vector<task_counts> counts() const;

 private:
  /// records/histogram. Of one worker, written by its thread alone.
  template <class Counter>
  struct times_of {
    struct series {
      void add(std::chrono::nanoseconds time) noexcept {
        counts[duration_histogram::bucket_of(time)].add();
        sum_ns.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.count())));
      }
      void add_to(duration_histogram& out) const noexcept {
        for (std::size_t i = 0; i < duration_histogram::bucket_count; ++i) {
          out.counts[i] += counts[i].read();
        }
        out.sum += std::chrono::nanoseconds(static_cast<std::int64_t>(sum_ns.read()));
      }
      Counter counts[duration_histogram::bucket_count];
      Counter sum_ns;
    };
    series queue_wait;
    series run;
  };
  class shared_counter {
   public:
    void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
    std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

   private:
    std::atomic<std::uint64_t> value_{0};
  };
  struct alignas(64) worker_times : times_of<own_counter> {};

  /// What tick_clock goes by.
  struct real_time {
    static std::uint64_t ticks() noexcept { return platform::ticks(); }
    static std::int64_t steady_ns() noexcept {
      return std::chrono::steady_clock::now().time_since_epoch().count();
    }
  };

  /// records/make. From now on some of its tasks have a record.
  void watch() noexcept;
  void count(const worker* on, bool is_wait, std::int64_t time_ns) noexcept;
  void tell(const task_hooks::hook& hook, const task_event& event) noexcept {
    if (!hook) return;
    try {
      hook(event);
    } catch (...) {
      report_failure();
    }
  }
  void report_failure() noexcept;

  tandem::runtime& owner_;
  worker_pool& pool_;
  const bool is_real_time_;
  tick_clock<real_time> ticks_;
  const task_hooks hooks_;
  const bool tells_;
  std::atomic<std::uint32_t> times_one_in_;
  std::atomic<bool> has_timed_;
  std::atomic<bool> watches_{false};
  std::atomic<bool> counts_{false};
  std::unique_ptr<name_counts> own_names_;  // written before names_, once
  std::atomic<name_counts*> names_{nullptr};
  // By number of the worker; made by its thread when it has the first time to count.
  parts_by_worker<worker_times> by_worker_;
  times_of<shared_counter> by_others_;
  std::atomic<std::uint32_t> visitors_{0};
};

}  // namespace tandem::inline v0::detail
