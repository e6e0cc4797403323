// thread_pulse.hpp: what the stall watch sees of a completion thread's engine.
// SPDX-License-Identifier: MIT
//
// Protocol stalls: README.md beside this.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <tandem/detail/fifo_lane.hpp>

#include "ring/ring_sleep.hpp"

namespace tandem::inline v0::io {

class thread_pulse {
 public:
  /// @param lane  what others may take of it
  thread_pulse(unsigned index, const ring_sleep& sleep,
               const tandem::detail::fifo_lane& lane) noexcept
      : index_(index), sleep_(sleep), lane_(lane) {}

  // The engine's thread.
  void started() noexcept;
  /// Nothing of its thread is left.
  void ended() noexcept { running_.store(false, std::memory_order_release); }
  /// stalls/count. Relaxed: what is told of a segment is a hint, its number is what counts.
  void segment_begins(std::source_location spawned_at, const char* name) noexcept {
    running_name_.store(name, std::memory_order_relaxed);
    running_at_.store(spawned_at, std::memory_order_relaxed);
    segments_.store(segments_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void segment_ends() noexcept {
    segments_.store(segments_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // Any thread.
  unsigned index() const noexcept { return index_; }
  /// stalls/count. The segments begun and ended: odd while one runs.
  std::uint64_t segments() const noexcept { return segments_.load(std::memory_order_acquire); }
  /// Where the task was spawned that runs.
  std::source_location running_at() const noexcept {
    return running_at_.load(std::memory_order_relaxed);
  }
  /// What that is called; "" if it has no name. Lives as long as the program.
  const char* running_name() const noexcept {
    return running_name_.load(std::memory_order_relaxed);
  }
  /// False as soon as a start would not have to wait for its end.
  bool is_running() const noexcept {
    return running_.load(std::memory_order_acquire);  // pairs with ended()
  }
  /// Sleeps, or has no thread.
  bool idle() const noexcept {
    return sleep_.asleep() || !running_.load(std::memory_order_relaxed);
  }
  /// Tasks that lie there for others to take.
  std::size_t backlog() const noexcept { return lane_.size(); }
  /// That its thread has used; 0 when it has ended.
  std::chrono::nanoseconds cpu_time() const noexcept;
  int os_thread() const noexcept {
    return os_thread_.load(std::memory_order_relaxed);  // published by the start
  }

 private:
  const unsigned index_;
  const ring_sleep& sleep_;
  const tandem::detail::fifo_lane& lane_;
  std::atomic<bool> running_{false};  // a hint
  std::atomic<int> cpu_clock_{0};
  std::atomic<int> os_thread_{0};
  std::atomic<std::uint64_t> segments_{0};  // stalls/count
  std::atomic<const char*> running_name_{""};
  std::atomic<std::source_location> running_at_{std::source_location()};
};

}  // namespace tandem::inline v0::io
