// root.hpp: the block of a spawned task: environment, start job and what happens at its end.
// SPDX-License-Identifier: MIT
//
// What has become of it is in one word (root_state.hpp): it is started or removed, never both, and
// the start job of a removed one only ends it. Whoever waits is told in either case. A task that is
// still queued when it is joined may be started by the joiner (joining/run_queued): its start job
// then finds it running, or done, and drops its hold.
#pragma once

#include <cstdint>
#include <exception>
#include <source_location>
#include <utility>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/detail/root_state.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0 {

/// What join_handle::cancel() achieved.
enum class cancel_result : std::uint8_t {
  removed_before_start,  ///< the task never runs
  stop_requested,        ///< it runs and has been asked to stop
  already_done,
};

namespace detail {

/// Whether a spawned task captures the context of its spawner.
enum class context_flow : std::uint8_t { captured, suppressed };

class TANDEM_API root : public job, public frame_allocated {
 public:
  /// Owns the frame of `body` until it is started. Its result goes into `result`.
  ///
  /// @param note  whatever the derived class wants to remember
  root(tandem::runtime& owner, executor& target, promise_base& body, outcome_base& result,
       const std::source_location& where, bool note = false) noexcept;
  root(const root&) = delete;
  root& operator=(const root&) = delete;

  /// Counts the task as live, links it below `parent` (null: the runtime's own list) and posts it.
  /// It captures the context of the calling task.
  void launch(environment* parent, context_flow flow = context_flow::captured) noexcept;
  /// From outside any task. @returns false after shutdown() began: then nothing has happened
  bool launch_from_outside() noexcept;
  /// As launch(), for whoever posts it (or does not: take_back(), drop()).
  void launch_unposted() noexcept;
  /// After launch_unposted(), while nobody else knows it: it is not counted any more. To be
  /// released.
  void take_back() noexcept;
  /// Instead of the start job: the task is removed, for that reason, unless a joiner has started it
  /// (joining/run_queued), or a cancel has removed it, and may end it (submissions/meet_worker).
  void drop(stop_reason reason) noexcept;
  /// Removes the task and hands its frame out; end_removed() has to follow. @returns null if it is
  /// not queued any more
  promise_base* take_unstarted() noexcept;
  /// Ends a task that the caller has removed, and that is in no queue any more.
  void end_removed(stop_reason reason) noexcept;
  /// Asks it to stop, or removes it from the queue.
  cancel_result cancel(stop_reason reason) noexcept;

  environment& env_block() noexcept { return env_; }
  const environment& env_block() const noexcept { return env_; }
  /// After the end: what the task threw, or null.
  std::exception_ptr take_failure() noexcept {
    outcome_base* const result = state_.result_room();
    return result != nullptr ? std::exchange(result->error, nullptr) : nullptr;
  }
  /// queued/list. @returns the task that the job starts, if it looks as if it had not begun, and has
  /// no parent; else null. pre: the job is in a queue meanwhile
  static const root* queued_task(const job& start) noexcept;
  /// About now, for reports.
  bool looks_queued() const noexcept { return state_.looks_queued(); }
  bool has_failed() const noexcept {
    const outcome_base* const result = state_.result_room();
    return result != nullptr && result->error != nullptr;
  }
  /// The task was removed before it started: it has no result.
  bool removed() const noexcept { return state_.now() == root_state::phase::removed; }
  /// Failed with something else than a cancellation that somebody asked for.
  bool failed_for_real() const noexcept;
  tandem::runtime& owner() const noexcept { return *env_.runtime(); }

 protected:
  virtual ~root();

  /// The task has ended (or was removed), is counted as ended and no stopper holds it any more.
  /// May delete the block. @returns what this thread goes on with
  virtual std::coroutine_handle<> ended() noexcept = 0;
  /// The start job comes to a task that call_here() has started.
  virtual void start_job_is_late() noexcept;
  /// cancel() has removed the task: out of its queue with it, if that can be done before a worker
  /// comes to it.
  virtual void leave_queue(stop_reason reason) noexcept;
  /// For whoever has removed the task: its coroutine goes, if it is still there.
  void destroy_removed() noexcept;
  /// The start job comes to a task that was removed. @returns whether leave_queue() will end it
  virtual bool left_to_remover() noexcept;

  bool is_queued_at(const executor* home) const noexcept {
    return env_.home() == home && looks_queued();
  }
  bool note() const noexcept { return state_.note(); }
  /// records/make. Whether it may have a record. Constant since the launch; the record itself is the
  /// business of whoever runs the task.
  bool is_observed() const noexcept { return job::run == &root::start_observed_job; }
  /// Starts the task on the caller's stack unless its start job, or a cancel, was first.
  /// @returns whether it ran here, and has_ended: whether it has ended here, too
  bool call_here(thread_context& context, bool& has_ended) noexcept;

 private:
  static const environment_kind kind_of_root;
  /// queued -> running. @returns null if it was not queued any more; then `found` is what it was
  promise_base* begin(root_state::phase& found) noexcept;
  void link(environment* parent, context_flow flow) noexcept;
  void link_and_post(environment* parent, context_flow flow) noexcept;
  class starter;
  static void start_job(job* self) noexcept;
  /// records/make. Instead of start_job(), in a runtime that observes.
  static void start_observed_job(job* self) noexcept;
  promise_base& prepare(promise_base& body, std::uint64_t segment) noexcept;
  bool call_observed(thread_context& context, observed_segment* here, promise_base& body) noexcept;
  void link_rest(const context_entry* captured) noexcept;
  static std::coroutine_handle<> body_ended(const ended_frame& body) noexcept;
  static std::coroutine_handle<> observed_body_ended(const ended_frame& body) noexcept;
  std::coroutine_handle<> finish_removed() noexcept;
  std::coroutine_handle<> finish() noexcept;

  root_state state_;  // in front: its line is the one that a stop, or the end, touches, too
  environment env_;
};

/// Gives `failure` to runtime_options::on_unhandled_exception, or reports and terminates.
TANDEM_API void unhandled_in_detached(tandem::runtime& owner, const environment& env,
                                      const std::exception_ptr& failure) noexcept;
/// The runtime of the current task. @throws std::logic_error naming `what` outside any task
TANDEM_API tandem::runtime& current_runtime(
    const char* what,
    const char* cure = "use the member functions of tandem::runtime, or tandem::run");
/// Where spawn() starts tasks.
TANDEM_API executor& workers_of(tandem::runtime& owner) noexcept;

}  // namespace detail
}  // namespace tandem::inline v0
