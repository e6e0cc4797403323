// task_count.hpp: how many tasks live, and the wait until none does.
// SPDX-License-Identifier: MIT
//
// Two counters per shard that only rise, so a start and an end are one increment each, on the line
// of the worker that makes it. Who waits, and why no end is lost: protocol draining, in
// runtime/src/runtime/README.md.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/thread_shard.hpp"

namespace tandem::inline v0::detail {

/// Any thread, but for what a member says.
class task_count {
 public:
  task_count() noexcept = default;
  task_count(const task_count&) = delete;
  task_count& operator=(const task_count&) = delete;

  /// draining/count. Before anybody else can end the task.
  void start() noexcept;
  /// draining/end. The task may be counted on another shard than its start.
  ///
  /// @returns  whether anybody watches: those in wait_for_none() have been woken, others are the
  ///           caller's to tell
  [[nodiscard]] bool end() noexcept;
  /// draining/sum. At a time when nobody starts or ends, how many live; 0 only if at some moment of
  /// the call none did.
  std::size_t live() const noexcept;

  /// draining/wait. @returns false if the deadline has passed and tasks live still
  bool wait_for_none(std::int64_t deadline_ns) noexcept;

  /// draining/announce. While it lives, each end() says that somebody watches.
  class watch;
  /// As a watch that stays for the rest of the count's life; once or more often.
  void watch_for_good() noexcept;

  /// draining/last_access. Around end() and whatever follows it, on a thread that nobody joins.
  class outside_end;
  /// Until all threads have left their outside_end. Afterwards the count may end.
  void wait_for_outside_ends() const noexcept;

  // Implementation
  class watch {
   public:
    explicit watch(task_count& of) noexcept : of_(of) {
      of_.watchers_.fetch_add(1, std::memory_order_seq_cst);
    }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;
    // Relaxed: whoever reads it too late tells nobody.
    ~watch() { of_.watchers_.fetch_sub(1, std::memory_order_relaxed); }

   private:
    task_count& of_;
  };

  class outside_end {
   public:
    // Relaxed: published by the count of the end, without which nobody would wait for it.
    explicit outside_end(task_count& of) noexcept : of_(of) {
      of_.ending_.fetch_add(1, std::memory_order_relaxed);
    }
    outside_end(const outside_end&) = delete;
    outside_end& operator=(const outside_end&) = delete;
    // The last access; pairs with wait_for_outside_ends().
    ~outside_end() { of_.ending_.fetch_sub(1, std::memory_order_release); }

   private:
    task_count& of_;
  };

 private:
  struct alignas(64) shard {
    std::atomic<std::uint64_t> started{0};
    std::atomic<std::uint64_t> ended{0};
  };

  void wake_all() noexcept;

  std::array<shard, thread_shards> shards_;
  std::atomic<std::uint32_t> watchers_{0};  // draining/announce
  std::atomic<std::uint32_t> signal_{0};    // draining/wait: counts ends that somebody watched
  std::atomic<bool> for_good_{false};       // watch_for_good() has counted itself into watchers_
  std::atomic<std::uint32_t> ending_{0};    // draining/last_access
};

inline void task_count::start() noexcept {
  shards_[thread_shard()].started.fetch_add(1, std::memory_order_seq_cst);
}

inline bool task_count::end() noexcept {
  // draining/end, in this order. Pairs with draining/announce.
  shards_[thread_shard()].ended.fetch_add(1, std::memory_order_seq_cst);
  if (watchers_.load(std::memory_order_seq_cst) == 0) [[likely]]
    return false;
  wake_all();
  return true;
}

}  // namespace tandem::inline v0::detail
