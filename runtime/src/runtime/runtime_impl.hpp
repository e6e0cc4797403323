// runtime_impl.hpp: what a runtime is made of, in the order in which it ends.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tandem/detail/timer_service.hpp>
#include <tandem/runtime.hpp>
#include <tandem/stop.hpp>

#include "observe/observer_slot.hpp"
#include "runtime/driven_loop.hpp"
#include "runtime/fork_guard.hpp"

namespace tandem::inline v0 {

class runtime::impl : public detail::left_to_parent {
 public:
  impl(runtime& self, runtime_options options);
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl();

  // Live tasks. Two counters per shard; a shard is a worker's, the last four are everybody
  // else's, too.
  void task_started() noexcept;
  void task_ended() noexcept;
  /// For spawns from outside. @returns false after shutdown() began: then nothing was counted
  bool admit_task() noexcept;
  std::size_t live() const noexcept;
  bool drain(std::int64_t deadline_ns) noexcept;
  void shutdown() noexcept;
  /// submissions/end. Refuses what comes from outside; from now on each task's end looks whether it
  /// was the last.
  void close() noexcept;
  void stop_all_roots() noexcept;
  /// For people: how many tasks live, and where they were spawned. @throws std::bad_alloc
  std::string describe_tasks() const;

  /// The stop state that roots without a parent hang below; sharded against contention.
  stop_state& root_stop() noexcept;
  /// The loop of a runtime without threads. @throws std::logic_error, would_deadlock naming `what`
  detail::driven_loop& driven(const char* what);
  void suppressed(const std::exception_ptr& failure) noexcept;

  service* find(const void* key) const noexcept;
  void append_metrics(std::vector<metric_family>& out) const;
  void add(const void* key, std::unique_ptr<service> made);

  const runtime_options options;
  /// options.name, told apart from those of others; set before anybody else knows the runtime.
  std::string series;
  detail::observer_slot observer;
  std::atomic<bool> closing{false};
  std::recursive_mutex service_lock;

 private:
  static constexpr std::size_t shard_count = 16;
  static constexpr std::size_t service_limit = 32;

  struct alignas(64) live_shard {
    std::atomic<std::uint64_t> started{0};
    std::atomic<std::uint64_t> ended{0};
  };
  struct service_entry {
    const void* key = nullptr;
    std::unique_ptr<service> object;
  };

  static std::size_t shard_index() noexcept;
  void count_end() noexcept;
  [[noreturn]] void report_stalled_shutdown() const noexcept;

  std::array<live_shard, shard_count> live_;
  std::atomic<std::uint32_t> draining_{0};  // how many threads wait in drain()
  std::atomic<std::uint32_t> drain_signal_{0};
  std::atomic<bool> ends_are_watched_{false};  // close() has counted itself into draining_
  // Threads of others that are inside task_ended(): the count they have made may end the runtime.
  std::atomic<std::uint32_t> ending_{0};
  struct alignas(64) root_shard {
    stop_state stop;
  };
  std::array<root_shard, shard_count> roots_;
  std::once_flag shut_down_;

 public:
  /// Null: the pool has threads. Ends last: the others notify it.
  const std::unique_ptr<detail::driven_loop> loop;
  // Members end in reverse: services (rings) and timers before the pool's memory, since their
  // threads may still be in the last lines of a post.
  worker_pool pool;
  detail::timer_service timers;

 private:
  std::array<service_entry, service_limit> services_;
  std::atomic<std::size_t> service_count_{0};  // entries below it are constant
};

}  // namespace tandem::inline v0
