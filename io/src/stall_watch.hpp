// stall_watch.hpp: notices a completion thread that does not come back to its ring, and says what it runs.
// SPDX-License-Identifier: MIT
//
//   W1  An engine counts: odd while a segment runs. Beside the count it says where the task was spawned.
//   W2  The watch looks once a period. After a second without any segment it says that it rests, then
//       looks once more; an engine that wakes first says that it is awake, then looks whether the watch
//       rests. Both seq_cst: so no segment begins unwatched, and an idle process is not woken.
//   W3  While the engine that drives the timers does not come back, the monitor drives them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <tandem/detail/timer.hpp>
#include <tandem/io/completion_pool.hpp>
#include <thread>
#include <vector>

namespace tandem::inline v0::io {

class completion_engine;

class stall_watch {
 public:
  /// @param threshold  how long a segment may run, and how often the watch looks
  /// @param tell       empty: a line on standard error, at most one a second
  stall_watch(std::string name, std::chrono::nanoseconds threshold,
              std::function<void(const stall_report&)> tell);
  stall_watch(const stall_watch&) = delete;
  stall_watch& operator=(const stall_watch&) = delete;
  ~stall_watch();

  /// Before start().
  void add(completion_engine& engine);
  /// W3. Before start(): `engine` drives the timers, as long as it comes back to its ring.
  void watch_driver(tandem::detail::timer_service& timers, completion_engine& engine) noexcept {
    timers_ = &timers;
    driver_ = &engine;
  }
  /// @throws  std::system_error
  void start();
  void stop() noexcept;

  /// W2. By an engine that has woken.
  void kick() noexcept {
    if (rests_.load(std::memory_order_seq_cst)) wake();
  }
  std::uint64_t stalls() const noexcept { return stalls_.load(std::memory_order_relaxed); }

 private:
  using clock = std::chrono::steady_clock;
  struct watched {
    completion_engine* engine;
    std::uint64_t segment = 0;  // odd: seen running
    clock::time_point since{};  // when it was seen first
    std::chrono::nanoseconds cpu{};
    bool counted = false;
    bool told = false;
  };

  void run() noexcept;
  /// @returns  whether anything happened since the last look
  bool look(clock::time_point now) noexcept;
  /// It has run for longer than the threshold, and that was not told yet.
  void notice(watched& of, clock::time_point now) noexcept;
  void tell(const stall_report& report) const noexcept;
  void relieve(bool on) noexcept;
  void wake() noexcept;

  const std::string name_;
  const std::chrono::nanoseconds threshold_;
  const std::function<void(const stall_report&)> tell_;
  std::vector<watched> engines_;
  tandem::detail::timer_service* timers_ = nullptr;  // null: others drive them
  completion_engine* driver_ = nullptr;
  bool is_relieved_ = false;
  std::atomic<bool> rests_{false};
  std::atomic<std::uint64_t> stalls_{0};
  std::mutex lock_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by lock_
  std::thread thread_;
};

}  // namespace tandem::inline v0::io
