// root.hpp: the block of a spawned task: environment, start job and what happens at its end.
// SPDX-License-Identifier: MIT
//
// phase: queued -> running (by the start job) | removed (by cancel, before the start job came). Both
// by one exchange, so a task is started or removed, never both; the start job of a removed one only
// ends it. Whoever waits is told in either case.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <source_location>

#include <tandem/detail/promise_base.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0 {

/// What join_handle::cancel() achieved.
enum class cancel_result : std::uint8_t {
  removed_before_start,  ///< the task never runs
  stop_requested,        ///< it runs and has been asked to stop
  already_done,
};

namespace detail {

class TANDEM_API root : public job, public frame_allocated {
 public:
  root(tandem::runtime& owner, executor& target, promise_base& body,
       const std::source_location& where) noexcept;
  root(const root&) = delete;
  root& operator=(const root&) = delete;

  /// Counts the task as live, links it below `parent` (null: the runtime's own list) and posts it.
  void launch(environment* parent) noexcept;
  /// From outside any task. @returns false after shutdown() began: then nothing has happened
  bool launch_from_outside() noexcept;
  /// Asks it to stop, or removes it from the queue.
  cancel_result cancel(stop_reason reason) noexcept;

  environment& env_block() noexcept { return env_; }
  const environment& env_block() const noexcept { return env_; }
  promise_base& body() noexcept { return *body_; }
  /// The task was removed before it started: it has no result.
  bool removed() const noexcept { return phase_.load(std::memory_order_acquire) == phase::removed; }
  /// Failed with something else than a cancellation that somebody asked for.
  bool failed_for_real() const noexcept;
  tandem::runtime& owner() const noexcept { return *env_.runtime(); }

 protected:
  virtual ~root();

  /// The task has ended (or was removed), is counted as ended and no stopper holds it any more.
  /// May delete the block. @returns what this thread goes on with
  virtual std::coroutine_handle<> ended() noexcept = 0;

 private:
  enum class phase : std::uint8_t { queued, running, removed, done };

  void link_and_post(environment* parent) noexcept;
  static void start_job(job* self) noexcept;
  static std::coroutine_handle<> body_ended(promise_base& body) noexcept;
  std::coroutine_handle<> finish() noexcept;

  environment env_;
  promise_base* body_;
  executor* target_;
  std::atomic<phase> phase_{phase::queued};
};

/// Gives `failure` to runtime_options::on_unhandled_exception, or reports and terminates.
TANDEM_API void unhandled_in_detached(tandem::runtime& owner, const environment& env,
                                      const std::exception_ptr& failure) noexcept;
/// The runtime of the current task. @throws std::logic_error naming `what` outside any task
TANDEM_API tandem::runtime& current_runtime(const char* what);
/// Where spawn() starts tasks.
TANDEM_API executor& workers_of(tandem::runtime& owner) noexcept;

}  // namespace detail
}  // namespace tandem::inline v0
