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
#include <tandem/detail/held_call.hpp>
#include <tandem/detail/leaf.hpp>
#include <tandem/detail/root.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

class driven_loop;

/// A root with somebody who may wait for it. Two references: the running task's and the handle's; a
/// third if the joiner started it (joining/run_queued): the late start job's.
///
/// joiner: null | the awaiting leaf | blocking (a thread waits) | stopped (the leaf's stop came
/// before it registered) | abandoned (the handle is gone) | done. Every change is an exchange or a
/// CAS, so the end of the task and whatever the handle does meet in exactly one of the two orders.
///
/// Protocol joining:
///   run_queued  a task that is still queued when it is joined, at the joiner's home, is called on
///               its stack: most of what a join costs is suspending and resuming the joiner.
///               Charged to the await budget
///   wait        else the joiner's leaf takes the place of null by a CAS; if it finds `done`, it
///               does not wait, and if it finds `stopped`, it ends as stopped
///   stop        the leaf's stop takes the leaf out by a CAS, or marks null as `stopped`; if it
///               finds anything else, the end of the task has the leaf, and goes on with the joiner
class TANDEM_API joinable_root : public root {
 public:
  /// In a pool's queue of submissions, under its lock. left: it was removed, but for the queue's
  /// own bookkeeping, which has a reference. submissions/sweep.
  enum class place : std::uint8_t { none, queued, left };

  /// @param is_submission  of a pool, whose queue it may leave: the root's note
  joinable_root(tandem::runtime& owner, executor& target, promise_base& body, outcome_base& result,
                const std::source_location& where, bool is_submission) noexcept
      : root(owner, target, body, result, where, is_submission) {}

  void keep() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  place queue_place() const noexcept { return place_; }
  void set_queue_place(place now) noexcept { place_ = now; }
  /// Removes a task that has not started. @returns its frame, or null: it has, or was removed
  /// before
  promise_base* take_back_frame(stop_reason reason) noexcept;

  void release() noexcept;
  /// Not launched, or taken back: both references go, and with them the task.
  void forget() noexcept;
  bool is_done() const noexcept;
  /// joining/wait. @returns false if the task is done already, or the leaf was stopped before it
  /// got here
  bool register_joiner(leaf& waiter) noexcept;
  /// joining/stop, from the leaf's on_stop. @returns whether the leaf was detached
  bool remove_joiner(leaf& waiter) noexcept;
  /// Blocks the calling thread, which must not be one of the runtime's; it runs a runtime that has
  /// no threads. @throws stalled
  void wait_blocking();
  /// The handle goes without having taken the outcome.
  void abandon() noexcept;

  /// The task's type, for unstarted_task.
  virtual const std::type_info& type_of_task() const noexcept = 0;

  /// joining/run_queued
  enum class join : std::uint8_t { not_begun, ended, suspended };
  join run_here(promise_base& waiting) noexcept;

 protected:
  ~joinable_root() override = default;
  std::coroutine_handle<> ended() noexcept override;
  void start_job_is_late() noexcept override;
  void leave_queue(stop_reason reason) noexcept override;
  bool left_to_remover() noexcept override;
  [[noreturn]] void throw_removed() const;

  bool taken_ = false;  // the handle's strand: somebody has received the outcome

 private:
  void drive_until_done(driven_loop& loop);

  place place_ = place::none;
  /// submissions/meet_worker. Of a removed submission: set by the first of {whoever removed it, its
  /// start job}; the second ends it.
  std::atomic<bool> handed_{false};
  std::atomic<std::uint32_t> references_{2};
  std::atomic<void*> joiner_{nullptr};
  std::atomic<std::uint32_t> blocking_{0};  // 1: done, for wait_blocking
};

template <class T>
class spawned final : public joinable_root {
 public:
  spawned(tandem::runtime& owner, executor& target, task<T>&& body,
          const std::source_location& where, bool is_submission = false) noexcept
      : joinable_root(owner, target, body.release(), result_, where, is_submission) {}

  const std::type_info& type_of_task() const noexcept override { return typeid(task<T>); }

  /// Null: it has not failed, or was removed, and take() tells.
  std::exception_ptr take_failure_if_ended() noexcept {
    if (removed() || result_.error == nullptr) return nullptr;
    taken_ = true;
    return result_.take_failure();
  }
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
  explicit join_leaf(joinable_root& target) noexcept : leaf(waits_for_task), target_(&target) {}

  bool ready() const noexcept { return target_->is_done(); }
  /// @returns  whether the task suspends
  bool start(promise_base& waiting) noexcept;
  /// selecting/arm. @returns whether the task has ended
  bool arm(select_place& as) noexcept;

 private:
  static bool let_go(leaf& self) noexcept;
  bool wait(promise_base& waiting) noexcept;
  static bool on_stop(stop_waiter& self) noexcept;
  static const wait_kind waits_for_task;
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
  std::exception_ptr await_failure() noexcept {
    return leaf_.cancelled() ? leaf_.failure_if_cancelled() : target_->take_failure_if_ended();
  }
  T await_resume() {
    leaf_.throw_if_cancelled();
    return target_->take();
  }

  // As a branch of select() (protocol selecting).
  using select_once = void;
  bool select_try() const noexcept { return leaf_.ready(); }
  bool select_arm(detail::select_place& as) noexcept { return leaf_.arm(as); }
  void select_disarm() const noexcept {}
  void select_reset() const noexcept {}

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
/// @thread_safety  as a value; cancel(), take_back() and is_done() from any thread while the handle
///                 lives
template <class T = void>
class [[nodiscard]] join_handle {
 public:
  using awaited_where_it_is = void;  // selector refuses a temporary one

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

  /// Asks the task to stop; it ends on its own time, and the await tells how. A submission that has
  /// not started ends at once: its coroutine is destroyed here, and its place in the pool's queue
  /// goes to whoever waits longest.
  ///
  /// @cost  linear in the tasks and waits below it
  cancel_result cancel(stop_reason reason = stop_reason::user) noexcept {
    return target_->cancel(reason);
  }

  /// Takes the task back before it starts: exactly one of a worker, cancel() and this gets it. Its
  /// place in the pool's queue goes to whoever waits longest, and the handle ends as cancelled
  /// (stop_reason::user).
  ///
  ///     if (auto body = handle.take_back()) other.workers().submit(std::move(body)).detach();
  ///
  /// @returns        the task, whole; an empty one if it has started, or was removed
  /// @thread_safety  as cancel()
  /// @cost           a short lock if it was submitted, and now and then a walk over the queue, paid
  ///                 for by those that have left it before
  task<T> take_back() noexcept {
    detail::promise_base* const frame = target_->take_back_frame(stop_reason::user);
    if (frame == nullptr) return {};
    return static_cast<detail::task_promise<T>&>(*frame).get_return_object();
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

/// Starts the task `f(args...)`; callable and arguments are kept until it has ended, so a lambda
/// may capture.
///
///     const auto greets = [name]() -> tandem::task<void> { co_await greet(name); };
///     tandem::spawn(greets).detach();
///
/// @param f        a callable that returns a task. With g++ 12 a temporary lambda that captures
///                 objects with destructors does not compile: give it a name
/// @param a, b, c  up to three arguments, copied or moved in, and handed to `f` as rvalues
/// @throws         as spawn(body); what the call of `f` throws is the task's failure
/// @cost           as spawn(body), and one frame more
template <class F, class A = detail::no_argument, class B = detail::no_argument,
          class C = detail::no_argument>
  requires detail::makes_task<F, A, B, C>
join_handle<detail::held_value<F, A, B, C>> spawn(
    executor& target, F&& f, A&& a = A(), B&& b = B(), C&& c = C(),
    std::source_location where = std::source_location::current()) {
  static_assert(
      detail::safe_in_co_await<F&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
      "(auto f = [...]...; spawn(tandem::moved(f)); or spawn(f), which copies), or capture "
      "by reference");
  return spawn(target,
               detail::hold_given(std::forward<F>(f), std::forward<A>(a), std::forward<B>(b),
                                  std::forward<C>(c)),
               where);
}
/// As above, on the worker pool of the current runtime.
template <class F, class A = detail::no_argument, class B = detail::no_argument,
          class C = detail::no_argument>
  requires detail::makes_task<F, A, B, C>
join_handle<detail::held_value<F, A, B, C>> spawn(
    F&& f, A&& a = A(), B&& b = B(), C&& c = C(),
    std::source_location where = std::source_location::current()) {
  executor& workers = detail::workers_of(detail::current_runtime("tandem::spawn"));
  return spawn(workers, std::forward<F>(f), std::forward<A>(a), std::forward<B>(b),
               std::forward<C>(c), where);
}

}  // namespace tandem::inline v0
