// task_scope.hpp: a block that its child tasks never outlive.
// SPDX-License-Identifier: MIT
//
// A scope exists only inside with_scope, which waits for all children however its body ends: leaving
// without a join is impossible by construction. Protocol: runtime/README.md, "Scope", labels S1-S4.
#pragma once

#include <atomic>
#include <coroutine>
#include <exception>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <tandem/detail/root.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

class task_scope;

namespace detail {

class scope_child final : public root {
 public:
  scope_child(tandem::runtime& owner, executor& target, task<void>&& body, task_scope& scope,
              const std::source_location& where) noexcept
      : root(owner, target, body.promise(), where), body_task_(std::move(body)), scope_(scope) {}

 protected:
  std::coroutine_handle<> ended() noexcept override;

 private:
  task<void> body_task_;
  task_scope& scope_;
};

class TANDEM_API scope_join_awaiter {
 public:
  using tandem_awaiter = void;

  explicit scope_join_awaiter(task_scope& scope) noexcept : scope_(&scope) {}
  bool await_ready() const noexcept;
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  void await_resume();

 private:
  bool start(promise_base& waiting) noexcept;
  task_scope* scope_;
};

}  // namespace detail

/// Children that end before the block that started them does.
///
/// The first child that throws stops the others (reason sibling_failed) and the body's waits; the
/// exception is rethrown after all have ended. A child that ends with operation_cancelled after the
/// scope was stopped has not failed.
class TANDEM_API task_scope {
 public:
  task_scope(const task_scope&) = delete;
  task_scope& operator=(const task_scope&) = delete;

  /// Starts a child at the scope's home.
  ///
  /// @throws         std::bad_alloc
  /// @cancellation   a child spawned into a stopped scope starts, and is stopped at its first wait
  /// @thread_safety  the body and any child of the scope, at once
  void spawn(task<void> child, std::source_location where = std::source_location::current()) {
    spawn(*env_.home(), std::move(child), where);
  }
  /// As above, with another home.
  void spawn(executor& target, task<void> child,
             std::source_location where = std::source_location::current());

  /// Waits until there are no children. Body only.
  ///
  /// @throws         the first failure of a child, after all have ended
  /// @cancellation   reaches the children; the wait itself goes on until they have ended
  [[nodiscard]] detail::scope_join_awaiter join() noexcept {
    return detail::scope_join_awaiter(*this);
  }

  /// Stops the body and all children. @thread_safety any thread while the scope lives
  bool request_stop(stop_reason reason = stop_reason::user) noexcept {
    return env_.stop().request_stop(reason);
  }
  bool stop_requested() const noexcept { return env_.stop().stop_requested(); }

  // Implementation
 protected:
  friend class detail::scope_child;
  friend class detail::scope_join_awaiter;

  task_scope() noexcept = default;
  /// For awaiters that have not started.
  task_scope(task_scope&&) noexcept : task_scope() {}
  ~task_scope() = default;

  /// S3. @returns true if no child is left; false: `waiting` is posted by the last one
  bool wait_for_children(detail::promise_base& waiting) noexcept;
  void note_failure(std::exception_ptr failure) noexcept;
  void child_ended() noexcept;
  /// After the join.
  bool was_cut_short() const noexcept { return cut_short_.load(std::memory_order_relaxed); }
  void rethrow_first() {
    if (!failed_.load(std::memory_order_acquire)) return;
    // Handed over, and claimed again: after a join in the body a later failure is a new first one.
    failed_.store(false, std::memory_order_relaxed);
    claimed_.store(false, std::memory_order_relaxed);
    std::rethrow_exception(std::exchange(first_failure_, nullptr));
  }

  environment env_;

 private:
  std::atomic<std::uint32_t> holds_{1};     // children, and one of the body while it does not wait
  detail::promise_base* joiner_ = nullptr;  // set before the body's hold is given up
  std::atomic<bool> claimed_{false};        // whose failure is the first
  std::atomic<bool> failed_{false};
  std::atomic<bool> cut_short_{false};  // a child or the body gave up because of a stop
  std::exception_ptr first_failure_;
};

namespace detail {

/// The part of with_scope that does not depend on body and result.
class TANDEM_API scope_runner : public task_scope {
 protected:
  scope_runner() noexcept = default;
  scope_runner(scope_runner&&) noexcept = default;
  ~scope_runner() = default;

  void start(promise_base& body, promise_base& parent) noexcept;
  /// After body and children have ended; on the parent's strand.
  void leave();

 private:
  static std::coroutine_handle<> body_ended(promise_base& body) noexcept;
};

}  // namespace detail

/// Awaiter of with_scope().
template <class Body>
class [[nodiscard]] scope_awaiter : private detail::scope_runner {
  using body_task = std::invoke_result_t<Body&, task_scope&>;
  static_assert(
      requires { typename body_task::promise_type; },
      "the body of with_scope has to return a task: write [&](tandem::task_scope& scope) -> "
      "tandem::task<void> { ... }");

 public:
  using tandem_awaiter = void;
  using value_type = typename body_task::value_type;

  explicit scope_awaiter(Body&& body) : body_(std::move(body)) {}
  scope_awaiter(scope_awaiter&&) = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) {
    running_ = std::invoke(body_, static_cast<task_scope&>(*this));
    start(running_.promise(), parent.promise());
    return detail::transfer(running_.promise().handle());
  }
  value_type await_resume() {
    leave();
    return running_.promise().get();
  }

 private:
  Body body_;
  body_task running_;
};

/// Runs `body(scope)`, a callable that returns a task, and waits for it and for all that it spawned.
///
///     co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
///       for (auto& url : urls) scope.spawn(fetch(url));
///       co_return;
///     });
///
/// @param body     kept alive until the scope has ended: the lambda may capture. With g++ 12 a lambda
///                 that captures objects with destructors needs a name: a temporary does not compile
/// @returns        what the body returns
/// @throws         the first failure of body or children, after all have ended; operation_cancelled if
///                 the caller was stopped and a child gave up because of that
/// @cancellation   a stop of the caller stops body and children
/// @resumes_on     the caller's home
template <class Body>
  requires std::invocable<std::decay_t<Body>&, task_scope&>
scope_awaiter<std::decay_t<Body>> with_scope(Body&& body) {
  static_assert(detail::safe_in_co_await<Body&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto body = [...]...; co_await with_scope(body);), or capture by reference");
  return scope_awaiter<std::decay_t<Body>>(std::decay_t<Body>(std::forward<Body>(body)));
}

}  // namespace tandem::inline v0
