// task_observer.hpp: chooses the tasks of a runtime that are observed, calls its hooks, keeps its histograms.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <tandem/detail/own_counter.hpp>
#include <tandem/duration_histogram.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task_hooks.hpp>

#include "task_record.hpp"

namespace tandem::inline v0::detail {

/// Exists only where there are hooks, or tasks are timed. Its runtime ends after the last segment has (M5).
class task_observer {
 public:
  /// @returns  null if the options ask for none
  static std::unique_ptr<task_observer> make(runtime::impl& owner, const pool_options& options);
  task_observer(runtime::impl& owner, const pool_options& options);
  task_observer(const task_observer&) = delete;
  task_observer& operator=(const task_observer&) = delete;
  ~task_observer();

  /// M1. A task is launched. @returns its record; null: it is not one of those that are observed
  task_record* task_spawned(const environment& task) noexcept;
  void task_began(const task_record& of, std::int64_t now_ns) noexcept;
  /// M5. Told before anybody else hears of the end. The record may be gone afterwards.
  void task_ended(task_record& of, task_outcome outcome) noexcept;
  /// @param wait_ns  below zero: the segment was in no queue
  void segment_began(const task_record& of, std::int64_t now_ns, std::int64_t wait_ns,
                     std::uint64_t number) noexcept;
  /// M5. The record may be gone afterwards.
  void segment_ended(task_record& of, std::int64_t began_ns, std::uint64_t number) noexcept;

  std::int64_t now_ns() const noexcept;

  // M5. A thread that is no worker of the pool has a segment open.
  bool is_visitor() const noexcept;
  void visitor_came() noexcept { visitors_.fetch_add(1, std::memory_order_relaxed); }
  void visitor_leaves() noexcept {
    visitors_.fetch_sub(1, std::memory_order_release);  // the last access; pairs with the next one
  }
  void wait_for_visitors() const noexcept;

  /// Whether the histograms hold anything, or will.
  bool times_tasks() const noexcept { return has_timed_.load(std::memory_order_relaxed); }
  /// RC7. Of the tasks that are spawned from now on. 0: none; what has been counted stays.
  void time_one_in(std::uint32_t one_in) noexcept {
    times_one_in_.store(one_in, std::memory_order_relaxed);  // a choice; nothing goes with it
    if (one_in != 0) has_timed_.store(true, std::memory_order_relaxed);
  }
  void add_times(duration_histogram& queue_wait, duration_histogram& run) const noexcept;

 private:
  /// M6. Of one worker, written by its thread alone.
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
  enum class part : std::uint8_t { queue_wait, run };

  void count(part which, std::int64_t time_ns) noexcept;
  worker_times* own_times() noexcept;
  void tell(const task_hooks::hook& hook, const task_event& event) noexcept;
  static task_event event_of(const task_record& of, std::int64_t now_ns) noexcept;

  runtime::impl& owner_;
  const task_hooks hooks_;
  std::atomic<std::uint32_t> times_one_in_;
  std::atomic<bool> has_timed_;
  // By number of the worker; made by its thread when it has the first time to count.
  std::vector<std::atomic<worker_times*>> by_worker_;
  times_of<shared_counter> by_others_;
  std::atomic<std::uint32_t> visitors_{0};
};

}  // namespace tandem::inline v0::detail
