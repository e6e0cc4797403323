// stall_watch.hpp: notices a completion thread that does not come back to its ring, and says what it runs.
// SPDX-License-Identifier: MIT
//
// An engine counts segments, the watch looks at the counts, and rests while there is nothing to
// see: so no segment begins unwatched, and an idle process is not woken. Protocol stalls:
// io/src/growth/README.md. Its looks also serve growth_control (growth/look, growth/rest), so that
// an adaptive pool has one thread for both.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <tandem/detail/timer_service.hpp>
#include <tandem/io/completion_options.hpp>
#include <thread>
#include <vector>

namespace tandem::inline v0 {

class runtime;

namespace io {

class growth_control;
class thread_pulse;

/// Something that somebody has to look at now and then.
class watched_port {
 public:
  watched_port() noexcept = default;
  watched_port(const watched_port&) = delete;
  watched_port& operator=(const watched_port&) = delete;
  /// ports/rest. Whether nobody does, just now.
  virtual bool is_unattended() const noexcept = 0;
  /// ports/send, ports/attend. The watch's thread.
  virtual void attend() noexcept = 0;

 protected:
  ~watched_port() = default;
};

class stall_watch {
 public:
  /// @param threshold  how long a segment may run, and how often the watch looks; 0: for ever,
  ///                   nobody is told
  /// @param tell       empty: a line on standard error, at most one a second
  stall_watch(runtime& owner, std::string name, std::chrono::nanoseconds threshold,
              std::function<void(const stall_report&)> tell);
  stall_watch(const stall_watch&) = delete;
  stall_watch& operator=(const stall_watch&) = delete;
  ~stall_watch();

  /// Before start().
  void add(const thread_pulse& engine);
  /// stalls/timers. Before start(): `driver`, which belongs to `engine`, drives the timers, as long
  /// as that comes back to its ring.
  void watch_driver(tandem::detail::timer_service& timers, tandem::detail::timer_driver& driver,
                    const thread_pulse& engine) noexcept {
    timers_ = &timers;
    driver_ = &driver;
    driving_ = &engine;
  }
  /// growth/look. Before start(): `control` sees what the watch sees, at least as often as it wants
  /// to.
  void serve(growth_control& control) noexcept;
  /// ports/attend. Before start(): looks after `port` where nobody else does.
  void serve(watched_port& port) noexcept;
  /// @throws  std::system_error
  void start();
  void stop() noexcept;

  /// stalls/look. By an engine that has woken; growth/rest: by whoever has changed the number of
  /// threads.
  void kick() noexcept {
    if (rests_.load(std::memory_order_seq_cst)) wake();
  }
  /// spreading/arrive. The control is to hear at once of a connection whose task lives on a thread.
  void hurry() noexcept;
  std::uint64_t stalls() const noexcept { return stalls_.load(std::memory_order_relaxed); }

 private:
  using clock = std::chrono::steady_clock;
  struct watched {
    const thread_pulse* engine;
    std::uint64_t segment = 0;  // odd: seen running
    clock::time_point since{};  // when it was seen first
    std::chrono::nanoseconds cpu{};
    bool counted = false;
    bool told = false;
  };

  void run() noexcept;
  /// At least.
  void look_every(std::chrono::nanoseconds interval) noexcept;
  /// @returns  whether anything happened since the last look
  bool look(clock::time_point now) noexcept;
  bool is_stalled(const watched& one, clock::time_point now) const noexcept;
  /// growth/look
  void show(const watched& one, bool busy, clock::time_point now) noexcept;
  /// spreading/arrive. Without the lock meanwhile.
  void serve_arrivals(std::unique_lock<std::mutex>& lock, clock::time_point now) noexcept;
  /// stalls/look. pre: locked, and it has said that it rests. Ends with the first thread that
  /// wakes, or when one has been idle for too long (growth/rest); or does not begin, since
  /// something has to be done.
  void rest(std::unique_lock<std::mutex>& lock) noexcept;
  /// It has run for longer than the threshold, and that was not told yet.
  void notice(watched& of, clock::time_point now) noexcept;
  void tell(const stall_report& report) const noexcept;
  /// What the last look has found; without the lock meanwhile.
  void tell_all(std::unique_lock<std::mutex>& lock) noexcept;
  /// ports/attend. Without the lock meanwhile.
  void attend(std::unique_lock<std::mutex>& lock) noexcept;
  void relieve(bool on) noexcept;
  void wake() noexcept;

  runtime& owner_;
  const std::string name_;
  const std::chrono::nanoseconds threshold_;
  std::chrono::nanoseconds interval_;  // between two looks
  const std::function<void(const stall_report&)> tell_;
  std::vector<watched> engines_;
  std::vector<stall_report>
      untold_;  // guarded by lock_, but while it is told; that is our thread's
  tandem::detail::timer_service* timers_ = nullptr;  // null: others drive them
  tandem::detail::timer_driver* driver_ = nullptr;
  const thread_pulse* driving_ = nullptr;  // of the engine that has the driver
  bool is_relieved_ = false;
  growth_control* growth_ = nullptr;  // null: the pool is not adaptive
  watched_port* port_ = nullptr;      // null: the workers have none
  bool growth_looks_ = false;         // this look is also its
  std::atomic<unsigned> arrived_{0};  // spreading/arrive: of which the control has not heard
  std::atomic<bool> rests_{false};
  std::atomic<std::uint64_t> stalls_{0};
  std::mutex lock_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by lock_
  std::thread thread_;
};

}  // namespace io
}  // namespace tandem::inline v0
