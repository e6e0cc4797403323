// spawn.hpp: starts a task that runs beside its creator.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <source_location>
#include <typeinfo>
#include <utility>

#include <tandem/detail/admission.hpp>
#include <tandem/detail/leaf.hpp>
#include <tandem/detail/root.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

class driven_loop;

/// A root with somebody who may wait for it. Two references: the running task's and the handle's; a
/// third if the joiner started it (J0): the late start job's.
///
/// joiner: null | the awaiting leaf | blocking (a thread waits) | stopped (the leaf's stop came
/// before it registered) | abandoned (the handle is gone) | done. Every change is an exchange or a
/// CAS, so the end of the task and whatever the handle does meet in exactly one of the two orders.
class TANDEM_API joinable_root : public root {
 public:
  using root::root;

  void release() noexcept;
  bool is_done() const noexcept;
  /// J1. @returns false if the task is done already, or the leaf was stopped before it got here
  bool register_joiner(leaf& waiter) noexcept;
  /// J2, from the leaf's on_stop. @returns whether the leaf was detached
  bool remove_joiner(leaf& waiter) noexcept;
  /// Blocks the calling thread, which must not be one of the runtime's; it runs a runtime that has
  /// no threads. @throws stalled
  void wait_blocking();
  /// The handle goes without having taken the outcome.
  void abandon() noexcept;

  /// The task's type, for unstarted_task.
  virtual const std::type_info& type_of_task() const noexcept = 0;

  /// J0. A task that is still queued when it is joined, at the joiner's home, is called on its
  /// stack: most of what a join costs is suspending and resuming the joiner. Charged to the await
  /// budget.
  enum class join : std::uint8_t { not_begun, ended, suspended };
  join run_here(promise_base& waiting) noexcept;

 protected:
  ~joinable_root() override = default;
  std::coroutine_handle<> ended() noexcept override;
  void start_job_is_late() noexcept override;
  [[noreturn]] void throw_removed() const;

  bool taken_ = false;  // the handle's strand: somebody has received the outcome

 private:
  void drive_until_done(driven_loop& loop);

  std::atomic<std::uint32_t> references_{2};
  std::atomic<void*> joiner_{nullptr};
  std::atomic<std::uint32_t> blocking_{0};  // 1: done, for wait_blocking
};

template <class T>
class spawned final : public joinable_root {
 public:
  spawned(tandem::runtime& owner, executor& target, task<T>&& body,
          const std::source_location& where) noexcept
      : joinable_root(owner, target, body.release(), result_, where) {}

  const std::type_info& type_of_task() const noexcept override { return typeid(task<T>); }

  T take() {
    TANDEM_ASSERT(!taken_, "the outcome of a task was taken twice: a join_handle is awaited once");
    taken_ = true;
    if (removed()) throw_removed();
    return result_.get();
  }

 private:
  outcome<T> result_;
};

/// The leaf of awaiting a join_handle.
class TANDEM_API join_leaf : public leaf {
 public:
  explicit join_leaf(joinable_root& target) noexcept
      : leaf(&join_leaf::on_stop), target_(&target) {}

  bool ready() const noexcept { return target_->is_done(); }
  /// @returns  whether the task suspends
  bool start(promise_base& waiting) noexcept;

 private:
  bool wait(promise_base& waiting) noexcept;
  static bool on_stop(stop_waiter& self) noexcept;
  joinable_root* target_;
};

}  // namespace detail

template <class T>
class join_handle;

namespace detail {
template <class T>
tandem::runtime& owner_of(const join_handle<T>& handle) noexcept;
}  // namespace detail

/// Awaiter of a join_handle.
template <class T>
class [[nodiscard]] join_awaiter {
 public:
  using tandem_awaiter = void;

  explicit join_awaiter(detail::spawned<T>& target) noexcept : target_(&target), leaf_(target) {}

  bool await_ready() const noexcept { return leaf_.ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return leaf_.start(self.promise());
  }
  T await_resume() {
    leaf_.throw_if_cancelled();
    return target_->take();
  }

 private:
  detail::spawned<T>* target_;
  detail::join_leaf leaf_;
};

/// The right to wait for a spawned task, once, and to cancel it.
///
/// Dropping it detaches the task, also when an exception passes: never give references to locals to
/// a spawned task, that is what task_scope is for. It is still counted by the runtime, and a
/// failure that nobody took goes to runtime_options::on_unhandled_exception (default: report, then
/// terminate).
///
/// @thread_safety  as a value; cancel() and is_done() from any thread while the handle lives
template <class T = void>
class [[nodiscard]] join_handle {
 public:
  join_handle() noexcept = default;
  join_handle(join_handle&& other) noexcept : target_(std::exchange(other.target_, nullptr)) {}
  join_handle& operator=(join_handle&& other) noexcept {
    join_handle moved(std::move(other));
    std::swap(target_, moved.target_);
    return *this;
  }
  ~join_handle() { detach(); }

  explicit operator bool() const noexcept { return target_ != nullptr; }
  bool is_done() const noexcept { return target_->is_done(); }

  /// Asks the task to stop; it ends on its own time, and the await tells how.
  ///
  /// @cost  linear in the tasks and waits below it
  cancel_result cancel(stop_reason reason = stop_reason::user) noexcept {
    return target_->cancel(reason);
  }

  /// Lets the task run on its own.
  void detach() noexcept {
    if (target_ != nullptr) std::exchange(target_, nullptr)->abandon();
  }

  /// @returns        the task's value, once
  /// @throws         what the task threw; operation_cancelled if the task was removed before it
  ///                 started, or if the *waiting* task was stopped (the spawned one then goes on)
  /// @cancellation   ends the wait, not the task; it may be awaited again. Awaiting it again after
  ///                 it gave the outcome is asserted against
  /// @resumes_on     the caller's home
  join_awaiter<T> operator co_await() noexcept {
    TANDEM_ASSERT(target_ != nullptr, "an empty join_handle was awaited");
    return join_awaiter<T>(*target_);
  }

  /// Blocks until the task has ended, and takes its outcome.
  ///
  /// @throws  what the task threw; would_deadlock on a thread of a runtime; stalled if the runtime
  ///          has a virtual clock and nothing can ever happen any more; forked_runtime
  T wait();

  // Implementation
  explicit join_handle(detail::spawned<T>& target) noexcept : target_(&target) {}

 private:
  friend tandem::runtime& detail::owner_of<T>(const join_handle& handle) noexcept;
  detail::spawned<T>* target_ = nullptr;
};

namespace detail {

/// The runtime of a task whose handle nobody has taken the outcome from.
template <class T>
tandem::runtime& owner_of(const join_handle<T>& handle) noexcept {
  TANDEM_ASSERT(handle, "an empty join_handle has no task");
  return handle.target_->owner();
}

template <class T>
join_handle<T> spawn_on(tandem::runtime& owner, executor& target, task<T>&& body,
                        const std::source_location& where,
                        context_flow flow = context_flow::captured) {
  TANDEM_ASSERT(body, "spawn was given an empty task");
  admission place(target);
  auto* const block = new spawned<T>(owner, target, std::move(body), where);
  block->launch(nullptr, flow);
  place.keep();
  return join_handle<T>(*block);
}

/// @throws  forked_runtime, or else runtime_stopped
[[noreturn]] TANDEM_API void throw_refused(const tandem::runtime& owner, const char* what);
/// Of a task that has not ended. @throws forked_runtime if it lives in the parent of this process
TANDEM_API void refuse_if_forked(const tandem::runtime& owner, const char* what);

template <class T>
join_handle<T> spawn_from_outside(tandem::runtime& owner, executor& target, task<T>&& body,
                                  const std::source_location& where) {
  TANDEM_ASSERT(body, "spawn was given an empty task");
  admission place(target);
  auto* const block = new spawned<T>(owner, target, std::move(body), where);
  if (!block->launch_from_outside()) {
    block->release();
    block->release();
    throw_refused(owner, "runtime::spawn");
  }
  place.keep();
  return join_handle<T>(*block);
}

/// @throws  would_deadlock on a thread of a runtime
TANDEM_API void refuse_blocking(const char* what_was_tried);

}  // namespace detail

template <class T>
T join_handle<T>::wait() {
  TANDEM_ASSERT(target_ != nullptr, "an empty join_handle was waited for");
  detail::refuse_blocking("join_handle::wait");
  if (!target_->is_done()) detail::refuse_if_forked(target_->owner(), "join_handle::wait");
  target_->wait_blocking();
  return target_->take();
}

/// Starts `body` on the worker pool of the current runtime.
///
///     auto handle = tandem::spawn(fetch(url));
///     ...
///     auto page = co_await handle;
///
/// The task captures the caller's context (context.hpp); spawn(no_flow, body) does not.
///
/// @throws         std::logic_error outside any task (use runtime::spawn there); std::bad_alloc
/// @cancellation   the child is not stopped with its creator: that is what task_scope is for
/// @thread_safety  from any task
/// @cost           one block from a free list, one queue operation
template <class T>
join_handle<T> spawn(task<T> body, std::source_location where = std::source_location::current()) {
  tandem::runtime& owner = detail::current_runtime("tandem::spawn");
  return detail::spawn_on(owner, detail::workers_of(owner), std::move(body), where);
}

/// As above, at another executor: that becomes the home of `body`.
///
/// @throws  also executor_closed
template <class T>
join_handle<T> spawn(executor& target, task<T> body,
                     std::source_location where = std::source_location::current()) {
  tandem::runtime& owner = detail::current_runtime("tandem::spawn");
  return detail::spawn_on(owner, target, std::move(body), where);
}

/// The type of no_flow.
struct no_flow_t {
  explicit no_flow_t() = default;
};
/// First argument of spawn() for tasks that shall not capture their spawner's context: they would
/// keep the values of the request that happened to start them (see context.hpp).
inline constexpr no_flow_t no_flow{};

template <class T>
join_handle<T> spawn(no_flow_t /*without_context*/, task<T> body,
                     std::source_location where = std::source_location::current()) {
  tandem::runtime& owner = detail::current_runtime("tandem::spawn");
  return detail::spawn_on(owner, detail::workers_of(owner), std::move(body), where,
                          detail::context_flow::suppressed);
}

}  // namespace tandem::inline v0
