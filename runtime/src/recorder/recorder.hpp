// recorder.hpp: the flight recorder of a runtime: on or off, by which clock, into which file.
// SPDX-License-Identifier: MIT
//
// Events lie in rings of the threads (trace_ring.hpp), where trace_point.hpp puts them. Here is what
// they have in common, and their way into a file. Protocol recording: README.md beside this.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include <tandem/detail/thread_context.hpp>
#include <tandem/trace_options.hpp>

#include "recorder/trace_sink.hpp"
#include "recorder/trace_story.hpp"

namespace tandem::inline v0::detail {

/// A runtime, as its recorder sees it.
class recorded_runtime {
 public:
  /// For people: which tasks live, what they are called, and where they were spawned. Never waits.
  /// @throws std::bad_alloc
  virtual void add_live_tasks(task_names& out) const = 0;
  /// What its pools have decided, by the steady clock. @throws std::bad_alloc
  virtual std::vector<timed_decision> timed_decisions() = 0;
  virtual const std::string& series_name() const noexcept = 0;
  virtual bool has_real_time() const noexcept = 0;
  /// By the clock of the runtime.
  virtual std::int64_t clock_ns() const noexcept = 0;

 protected:
  ~recorded_runtime() = default;
};

class recorder {
 public:
  explicit recorder(recorded_runtime& of) noexcept : of_(of) {}
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;
  ~recorder() { stop(); }

  // Any thread.
  /// recording/start. @throws std::invalid_argument, std::bad_alloc
  void start(std::string path, const trace_options& options);
  /// What has been recorded stays.
  void stop() noexcept;
  bool is_on() const noexcept { return is_on_.load(std::memory_order_acquire); }
  /// Into the file. @throws std::logic_error if no path was ever given; std::system_error;
  /// std::bad_alloc
  void write_file();
  /// @throws  what the sink throws; std::bad_alloc
  void write(trace_sink& into);
  /// A signal asks for it: as write_file(), if there is a path. What fails is said on standard
  /// error.
  void write_asked_file() noexcept;
  /// There is a stall: into the file, if that is wanted and due. What fails is said on standard
  /// error.
  void stalled() noexcept;

  /// recording/take. A ring for this thread; null: there is none for it.
  trace_ring* adopt(thread_context& context) noexcept;
  std::uint64_t serial() const noexcept { return serial_.load(std::memory_order_relaxed); }
  /// recording/clock. As the first word of an event has it.
  std::uint64_t now() const noexcept;
  bool uses_ticks() const noexcept { return uses_ticks_; }

 private:
  /// pre: writing_ is held
  void write_alone(trace_sink& into);

  recorded_runtime& of_;
  std::atomic<bool> is_on_{false};
  std::atomic<std::uint64_t> serial_{0};  // unique in the process; 0: never started
  // Written by the first start, before it is on.
  bool uses_ticks_ = false;
  std::size_t capacity_ = 0;
  std::uint64_t first_ticks_ = 0;
  std::int64_t first_ns_ = 0;

  std::mutex lock_;
  std::string path_;                // under the lock
  trace_options options_;           // under the lock
  std::int64_t last_stall_ns_ = 0;  // under the lock
  std::mutex writing_;              // held by whoever writes: one at a time
};

/// Of a runtime. Any thread.
recorder& recorder_of(tandem::runtime& owner) noexcept;

}  // namespace tandem::inline v0::detail
