// runtime_impl.hpp: what a runtime is made of, in the order in which it ends.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <tandem/detail/timer_service.hpp>
#include <tandem/runtime.hpp>
#include <tandem/stop.hpp>

#include "observe/observer_slot.hpp"
#include "pool/pool_owner.hpp"
#include "process/fork_guard.hpp"
#include "recorder/recorder.hpp"
#include "runtime/insight_slot.hpp"
#include "runtime/root_stops.hpp"
#include "runtime/service_table.hpp"
#include "runtime/task_count.hpp"
#include "worker/driven_loop.hpp"

namespace tandem::inline v0 {

class runtime::impl final : public detail::left_to_parent,
                            public detail::pool_owner,
                            private detail::recorded_runtime {
 public:
  impl(runtime& self, runtime_options options);
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl();

  /// draining/count. For spawns of tasks, which are counted themselves.
  void task_started() noexcept;
  void task_ended() noexcept;
  /// draining/admit. For spawns from outside. @returns false after shutdown() began: then nothing
  /// was counted
  bool admit_task() noexcept;
  std::size_t live() const noexcept override { return tasks_.live(); }
  /// Until no task lives. @returns false if the deadline was first
  bool drain(std::int64_t deadline_ns) noexcept;
  /// Everything that is done before members end. Once: others wait until it is.
  void shutdown() noexcept;
  /// draining/close, submissions/end. Refuses what comes from outside; from now on each task's end
  /// looks whether it was the last.
  void close() noexcept override;
  void stop_all_roots() noexcept override { roots_.request_stop(stop_reason::shutdown); }
  /// For people: how many tasks live, and where they were spawned. @throws std::bad_alloc
  std::string describe_tasks() const override;
  detail::observer_slot& observers() noexcept override { return observer; }
  void workers_are_idle() noexcept override;

  /// stopping/late_root. What a root without a parent hangs below that begins on this thread.
  stop_state& root_stop() noexcept;
  /// For looks.
  detail::root_stops& roots() noexcept { return roots_; }
  /// The loop of a runtime without threads. @throws std::logic_error, would_deadlock naming `what`
  detail::driven_loop& driven(const char* what);
  /// recording/start. @throws as recorder::start()
  void start_recording(std::string path, const trace_options& options);

  const runtime_options options;
  /// options.name, told apart from those of others; set before anybody else knows the runtime.
  std::string series;
  detail::observer_slot observer;
  std::atomic<bool> closing{false};
  detail::recorder recording{*this};

 private:
  // For its recorder.
  void add_live_tasks(detail::task_names& out) const override;
  std::vector<detail::timed_decision> timed_decisions() override;
  const std::string& series_name() const noexcept override { return series; }
  bool has_real_time() const noexcept override { return !options.clock.has_value(); }
  std::int64_t clock_ns() const noexcept override {
    return timers.now().time_since_epoch().count();
  }
  /// submissions/end, and the loop of a runtime without threads: a task has ended while somebody
  /// watches.
  void tell_of_end() noexcept;
  [[noreturn]] void report_stalled_shutdown() const noexcept;

  detail::task_count tasks_;
  detail::root_stops roots_;
  std::once_flag shut_down_;

 public:
  /// Null: the pool has threads. Ends last: the others notify it.
  const std::unique_ptr<detail::driven_loop> loop;
  // Members end in reverse: services (rings) and timers before the pool's memory, since their
  // threads may still be in the last lines of a post.
  worker_pool pool;
  detail::timer_service timers;
  detail::service_table services;
  const detail::insight_slot insight;
};

}  // namespace tandem::inline v0
