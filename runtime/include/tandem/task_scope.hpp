// task_scope.hpp: a block that its child tasks never outlive.
// SPDX-License-Identifier: MIT
//
// A scope exists only inside with_scope, which waits for all children however its body ends:
// leaving without a join is impossible by construction. Protocol scopes:
// runtime/src/combine/README.md.
#pragma once

#include <atomic>
#include <coroutine>
#include <exception>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/held_call.hpp>
#include <tandem/detail/place_queue.hpp>
#include <tandem/detail/root.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

class task_scope;

namespace detail {

class scope_watch;

class scope_child final : public root {
 public:
  /// Launched below the scope's environment, by which it finds the scope.
  scope_child(tandem::runtime& owner, executor& target, promise_base& body, bool has_place,
              const std::source_location& where) noexcept
      : root(owner, target, body, result_, where, has_place) {}

 protected:
  std::coroutine_handle<> ended() noexcept override;

 private:
  outcome<void> result_;
};

/// A scope's environment, which knows its scope.
class scope_environment : public environment {
 public:
  task_scope* scope = nullptr;
};

/// It listens to the stop state of a block that lies between the scope's body and the join
/// (scopes/join).
class TANDEM_API scope_join_awaiter : private stop_listener {
 public:
  using tandem_awaiter = void;

  explicit scope_join_awaiter(task_scope& scope) noexcept;
  /// For an awaiter that has not started.
  scope_join_awaiter(scope_join_awaiter&&) noexcept = default;

  bool await_ready() const noexcept;
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() noexcept;
  void await_resume();
  /// The last child has ended. @returns whether the waiting task is to be posted now
  bool finish() noexcept;

 private:
  bool start(promise_base& waiting) noexcept;
  static bool on_stop(stop_waiter& self) noexcept;
  static void go_on(stop_listener& self) noexcept;
  static const wait_kind listens_for_scope;

  task_scope* scope_;
  promise_base* waiting_ = nullptr;
  bool listening_ = false;
};

/// Awaiter of task_scope::spawn_when_free().
class [[nodiscard]] TANDEM_API scope_spawn_awaiter : private place_waiter {
 public:
  using tandem_awaiter = void;

  scope_spawn_awaiter(task_scope& scope, executor* target, task<void>&& child,
                      const std::source_location& where) noexcept;
  /// For an awaiter that has not started.
  scope_spawn_awaiter(scope_spawn_awaiter&&) noexcept = default;

  bool await_ready() noexcept { return ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return failure_if_cancelled(); }
  void await_resume();

 private:
  task_scope* scope_;
  executor* target_;
  task<void> child_;
  std::source_location where_;
};

}  // namespace detail

/// Children that end before the block that started them does.
///
/// The first child that throws stops the others (reason sibling_failed) and the body's waits; the
/// exception is rethrown after all have ended. A child that ends with operation_cancelled after the
/// scope was stopped has not failed; one whose own with_timeout expires has, if it lets that out.
/// The body is no child: a wait of it that ends by request_stop() throws out of with_scope.
class TANDEM_API task_scope {
 public:
  task_scope(const task_scope&) = delete;
  task_scope& operator=(const task_scope&) = delete;

  /// Starts a child at the scope's home.
  ///
  /// @throws         std::bad_alloc; executor_closed
  /// @cancellation   a child spawned into a stopped scope starts, and is stopped at its first wait
  /// @thread_safety  the body and any child of the scope, at once
  void spawn(task<void> child, std::source_location where = std::source_location::current()) {
    spawn(*env_.home(), std::move(child), where);
  }
  /// As above, with another home.
  void spawn(executor& target, task<void> child,
             std::source_location where = std::source_location::current()) {
    TANDEM_ASSERT(child, "task_scope::spawn was given an empty task");
    spawn_frame(target, child.release(), places_.take_anyway(), where);
  }

  /// Starts `f(args...)`, which returns a task<void>; callable and arguments are kept until the
  /// child has ended, so a temporary lambda may capture.
  ///
  ///     scope.spawn([name]() -> tandem::task<void> { co_await greet(name); });
  ///
  /// @param a, b, c  up to three arguments, copied or moved in, and handed to `f` as rvalues
  /// @throws         as above; what the call of `f` throws is the child's failure
  /// @cost           one frame more
  template <class F, class A = detail::no_argument, class B = detail::no_argument,
            class C = detail::no_argument>
    requires detail::makes_void_task<F, A, B, C>
  void spawn(F&& f, A&& a = A(), B&& b = B(), C&& c = C(),
             std::source_location where = std::source_location::current()) {
    spawn(*env_.home(),
          detail::hold_given(std::forward<F>(f), std::forward<A>(a), std::forward<B>(b),
                             std::forward<C>(c)),
          where);
  }
  /// As above, with another home.
  template <class F, class A = detail::no_argument, class B = detail::no_argument,
            class C = detail::no_argument>
    requires detail::makes_void_task<F, A, B, C>
  void spawn(executor& target, F&& f, A&& a = A(), B&& b = B(), C&& c = C(),
             std::source_location where = std::source_location::current()) {
    spawn(target,
          detail::hold_given(std::forward<F>(f), std::forward<A>(a), std::forward<B>(b),
                             std::forward<C>(c)),
          where);
  }

  /// From now on spawn_when_free() waits while `count` children or more run that were spawned
  /// since. 0: no limit. spawn() never waits, but its children count.
  ///
  /// @thread_safety  as spawn()
  void set_max_in_flight(std::size_t count) noexcept { places_.set_limit(count); }

  /// As spawn(), once fewer children than set_max_in_flight() run. First come, first served.
  ///
  ///     scope.set_max_in_flight(100);
  ///     while (true) co_await scope.spawn_when_free(serve(co_await listener.accept()));
  ///
  /// @throws         operation_cancelled, std::bad_alloc: then the child has not started
  /// @cancellation   ends the wait
  /// @thread_safety  as spawn(). A child that waits here keeps its own place meanwhile
  /// @resumes_on     the caller's home
  /// @cost           a lock of the scope, here and at each child's end
  detail::scope_spawn_awaiter spawn_when_free(
      task<void> child, std::source_location where = std::source_location::current()) noexcept {
    return detail::scope_spawn_awaiter(*this, env_.home(), std::move(child), where);
  }
  /// As above, with another home.
  detail::scope_spawn_awaiter spawn_when_free(
      executor& target, task<void> child,
      std::source_location where = std::source_location::current()) noexcept {
    return detail::scope_spawn_awaiter(*this, &target, std::move(child), where);
  }
  /// As above, for a callable and its arguments, which are kept as by spawn(). With g++ 12 a
  /// temporary lambda that captures objects with destructors does not compile: give it a name.
  ///
  /// @throws  std::bad_alloc, at the call
  template <class F, class A = detail::no_argument, class B = detail::no_argument,
            class C = detail::no_argument>
    requires detail::makes_void_task<F, A, B, C>
  detail::scope_spawn_awaiter spawn_when_free(
      F&& f, A&& a = A(), B&& b = B(), C&& c = C(),
      std::source_location where = std::source_location::current()) {
    return spawn_when_free(*env_.home(), std::forward<F>(f), std::forward<A>(a), std::forward<B>(b),
                           std::forward<C>(c), where);
  }
  template <class F, class A = detail::no_argument, class B = detail::no_argument,
            class C = detail::no_argument>
    requires detail::makes_void_task<F, A, B, C>
  detail::scope_spawn_awaiter spawn_when_free(
      executor& target, F&& f, A&& a = A(), B&& b = B(), C&& c = C(),
      std::source_location where = std::source_location::current()) {
    static_assert(detail::safe_in_co_await<F&&>,
                  "g++ 12 would destroy this temporary lambda's captures twice: give it a name "
                  "first (auto f = [...]...; co_await scope.spawn_when_free(tandem::moved(f)); or "
                  "(f), which copies), or capture by reference");
    return spawn_when_free(target,
                           detail::hold_given(std::forward<F>(f), std::forward<A>(a),
                                              std::forward<B>(b), std::forward<C>(c)),
                           where);
  }

  /// Waits until there are no children. Body only.
  ///
  ///     co_await tandem::with_timeout(grace, scope.join());  // after that they are stopped
  ///
  /// @throws         the first failure of a child, after all have ended
  /// @cancellation   stops the scope, also if it comes from a limit around the join alone; the wait
  ///                 goes on until the children have ended
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
  friend class detail::scope_spawn_awaiter;

  task_scope() noexcept = default;
  /// For awaiters that have not started.
  task_scope(task_scope&&) noexcept : task_scope() {}
  ~task_scope() {
    if (watch_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      end_watch();
  }

  /// scopes/last_hold. @returns true if no child is left; false: `waiting` is posted by the last
  /// one
  bool wait_for_children(detail::promise_base& waiting) noexcept;
  void note_failure(std::exception_ptr failure) noexcept;
  void child_ended() noexcept;
  /// After the join.
  bool was_cut_short() const noexcept { return cut_short_.load(std::memory_order_relaxed); }
  /// Null: no child has failed.
  std::exception_ptr take_first_failure() noexcept {
    if (!failed_.load(std::memory_order_acquire)) return nullptr;
    // Handed over, and claimed again: after a join in the body a later failure is a new first one.
    failed_.store(false, std::memory_order_relaxed);
    claimed_.store(false, std::memory_order_relaxed);
    return std::exchange(first_failure_, nullptr);
  }

  /// scopes/watch. Where the body's variables are, if that is known.
  void note_body(detail::promise_base& body) noexcept;
  /// scopes/watch. The body's variables are gone.
  void body_is_gone() noexcept {
    if (watch_.load(std::memory_order_acquire) != nullptr) [[unlikely]]
      report_left_behind();
  }

  detail::scope_environment env_;
  static const detail::environment_kind surrounds_scope;

 private:
  void look_for_borrowed(detail::promise_base& child, const detail::scope_child& block,
                         const std::source_location& where) noexcept;
  void report_left_behind() noexcept;
  void end_watch() noexcept;
  void spawn_frame(executor& target, detail::promise_base& child, bool has_place,
                   const std::source_location& where);

  detail::scope_join_awaiter* joining_ =
      nullptr;                           // set with joiner_: the join that listens, or null
  std::atomic<std::uint32_t> holds_{1};  // children, and one of the body while it does not wait
  // Set before the body's hold is given up, null again when it is taken back. scopes/look.
  std::atomic<detail::promise_base*> joiner_{nullptr};
  std::atomic<bool> claimed_{false};  // whose failure is the first
  std::atomic<bool> failed_{false};
  std::atomic<bool> cut_short_{false};  // a child or the body gave up because of a stop
  std::exception_ptr first_failure_;
  detail::place_queue places_;
  // scopes/watch; builds with assertions. A body that is no coroutine may have spawned before they
  // are set.
  std::atomic<const char*> body_begin_{nullptr};
  std::atomic<const char*> body_end_{nullptr};  // published by body_begin_
  std::atomic<detail::scope_watch*> watch_{nullptr};
};

namespace detail {

/// The part of with_scope that does not depend on body and result.
class TANDEM_API scope_runner : public task_scope {
 protected:
  scope_runner() noexcept = default;
  scope_runner(scope_runner&&) noexcept = default;
  ~scope_runner() = default;

  /// The scope begins, and the calling thread is in it: the body may spawn as soon as it is called.
  void open(promise_base& parent, outcome_base& result) noexcept;
  /// After open().
  void start(promise_base& body, promise_base& parent) noexcept;
  /// Instead of start(): calling the body has thrown, maybe after it had spawned children.
  /// @returns what to go on with
  std::coroutine_handle<> body_has_thrown(promise_base& parent) noexcept;
  /// After body and children have ended; on the parent's strand. @returns what the scope ends with,
  /// null: as the body does
  std::exception_ptr leave() noexcept;

 private:
  static std::coroutine_handle<> body_ended(const ended_frame& body) noexcept;
  outcome_base* body_result_ = nullptr;
  bool has_left_ = false;
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
  /// For an awaiter that has not started.
  scope_awaiter(scope_awaiter&& other) noexcept(std::is_nothrow_move_constructible_v<Body>)
      : body_(std::move(other.body_)) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    open(parent.promise(), result_);
    body_task made;
    try {
      made = std::invoke(body_, static_cast<task_scope&>(*this));
    } catch (...) {
      result_.error = std::current_exception();
      return detail::transfer(body_has_thrown(parent.promise()));
    }
    TANDEM_ASSERT(made, "the body of with_scope returned an empty task");
    detail::promise_base& running = made.release();
    start(running, parent.promise());
    return detail::transfer(running.handle());
  }
  std::exception_ptr await_failure() noexcept {
    std::exception_ptr failure = leave();
    return failure != nullptr ? failure : result_.take_failure();
  }
  value_type await_resume() {
    if (std::exception_ptr failure = leave()) std::rethrow_exception(std::move(failure));
    return result_.get();
  }

 private:
  Body body_;
  detail::outcome<value_type> result_;
};

/// Runs `body(scope)`, a callable that returns a task, and waits for it and for all that it
/// spawned. A body that is no coroutine itself may spawn before it returns its task, and what it
/// throws counts as the task's failure.
///
///     co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
///       for (auto& url : urls) scope.spawn(fetch(url));
///       co_return;
///     });
///
/// The body's own variables end with the body, before its children: where children refer to them,
/// the body's last line is the join.
///
///     co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
///       std::vector<page> pages(urls.size());
///       for (std::size_t i = 0; i < urls.size(); ++i) scope.spawn(fetch(urls[i], pages[i]));
///       co_await scope.join();  // else `pages` is gone, and the children write to it
///     });
///
/// In builds with assertions children that are left behind are told of on stderr if they are
/// coroutines that were given such a variable, or (g++) a closure with captures, by reference.
/// Pointers, views, references inside of objects, variables of a body that is no coroutine, and
/// tasks inside of other tasks are not noticed; nor is a body that leaves by an exception excused:
/// join in a handler, or let the variables stand outside.
///
/// @param body     kept alive until the scope has ended: the lambda may capture. With g++ 12 a
///                 lambda that captures objects with destructors needs a name: a temporary does not
///                 compile
/// @returns        what the body returns
/// @throws         the first failure of body or children, after all have ended; operation_cancelled
///                 if the caller was stopped and a child gave up because of that
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
