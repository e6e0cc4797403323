// driven_loop.hpp: runs a runtime that has no threads, by whoever calls it.
// SPDX-License-Identifier: MIT
//
// With a real clock it serves foreign event loops (poll, run_until_idle and a descriptor); with a
// virtual one it chooses by a seed what runs next, and moves the clock when nothing can run. One
// thread at a time drives. Protocol driving: runtime/src/worker/README.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include <tandem/detail/frame_idle.hpp>
#include <tandem/detail/split_mix.hpp>
#include <tandem/detail/timer_service.hpp>
#include <tandem/runtime.hpp>
#include <tandem/virtual_time.hpp>

#include "platform/pollable.hpp"
#include "worker/driven_workers.hpp"

namespace tandem::inline v0::detail {

class driven_loop final : public timer_driver {
 public:
  /// What ended a run.
  enum class ending : std::uint8_t { done, time_over, stalled };

  /// A condition to run until; asked between items.
  class condition {
   public:
    condition(bool (*ask)(const void*) noexcept, const void* of) noexcept : ask_(ask), of_(of) {}
    bool operator()() const noexcept { return ask_(of_); }

   private:
    bool (*ask_)(const void*) noexcept;
    const void* of_;
  };

  driven_loop(tandem::runtime& owner, const std::optional<virtual_time>& time);
  driven_loop(const driven_loop&) = delete;
  driven_loop& operator=(const driven_loop&) = delete;
  /// Once, before anything runs.
  void drive(driven_workers& workers) noexcept { workers_ = &workers; }

  bool is_virtual() const noexcept { return time_.has_value(); }
  std::uint64_t seed() const noexcept { return time_->seed(); }
  /// For the tasks. The schedule has a stream of its own.
  std::uint64_t random_bits() noexcept { return split_mix(task_random_); }

  // Any thread.
  /// driving/signal. Something was posted, or a condition may hold now.
  void notify() noexcept;
  void wake() noexcept override { notify(); }
  void hold() noexcept;
  void release() noexcept;

  // One thread at a time, outside any task.
  std::size_t poll(std::size_t most_items);
  std::size_t run_until_idle();
  /// Runs until the condition holds, the clock reaches `deadline_ns`, or nothing can ever happen.
  ending run_until(condition done, std::int64_t deadline_ns) noexcept;
  /// A handle that is readable when poll() has something to do.
  pollable_handle handle();

 private:
  std::size_t run_ready(std::size_t most_items) noexcept;
  std::size_t run_items(std::size_t most_items) noexcept;
  bool queued() const noexcept;
  /// @param ran  whether it ran anything since it last came here
  void rest(bool ran) noexcept;
  /// Until when it may lie, as far as the memory of frames goes.
  std::int64_t lie_down(bool ran) noexcept;
  ending wait_virtual(condition done, std::uint32_t seen, std::int64_t deadline_ns) noexcept;
  void wait_for_release(std::uint32_t seen) noexcept;
  void sleep_on_signal(std::uint32_t seen, std::int64_t deadline_ns) noexcept;
  timer_service& timers() const noexcept;
  std::int64_t clock_ns() const noexcept;

  tandem::runtime& owner_;
  driven_workers* workers_ = nullptr;
  const std::optional<virtual_time> time_;
  std::mutex driving_;                    // held by the thread that drives
  frame_idle spell_;                      // under driving_
  std::uint64_t schedule_random_ = 0;     // under driving_
  std::uint64_t task_random_ = 0;         // by tasks, so under driving_, too
  std::atomic<std::uint32_t> signal_{0};  // driving/signal: counts notifications
  std::atomic<bool> sleeping_{false};     // driving/sleep: the driving thread waits for signal_
  std::atomic<std::uint32_t> holds_{0};   // driving/clock
  bool has_complained_ = false;           // under driving_
  std::atomic<platform::pollable*> pollable_{nullptr};  // once asked for; made under driving_
  std::unique_ptr<platform::pollable> pollable_owner_;  // under driving_
};

}  // namespace tandem::inline v0::detail
