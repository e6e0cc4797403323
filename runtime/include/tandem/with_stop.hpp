// with_stop.hpp: the border between tandem's cancellation and std::stop_token, in both directions.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/border.hpp>
#include <tandem/detail/token_callback.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

/// The part of with_stop() that does not depend on the result.
class TANDEM_API stop_from_token : private border {
 protected:
  explicit stop_from_token(std::stop_token&& token) noexcept
      : border(border_kind::open), token_(std::move(token)) {}
  stop_from_token(stop_from_token&& other) noexcept
      : border(std::move(other)), token_(std::move(other.token_)) {}
  ~stop_from_token() = default;

  void start(promise_base& child, promise_base& parent, outcome_base& result) noexcept;

 private:
  struct forward {
    environment* env;
    void operator()() const noexcept { env->stop().request_stop(stop_reason::user); }
  };
  static std::coroutine_handle<> child_ended(const ended_frame& child) noexcept;

  std::stop_token token_;
  std::optional<token_callback<forward>> callback_;
};

/// The part of with_stop_token() that does not depend on body and result. It listens to the stop
/// state of its environment (stopping/listener); both ends of that are in
/// runtime/src/stop/README.md, "Stop".
class TANDEM_API stop_to_token : private border, private stop_listener {
 protected:
  stop_to_token() noexcept
      : border(border_kind::open), stop_listener(listens_for_token, &stop_to_token::go_on) {}
  stop_to_token(stop_to_token&&) noexcept = default;
  ~stop_to_token() = default;

  /// @throws  std::bad_alloc
  std::stop_token make_token(const promise_base& parent);
  void start(promise_base& child, promise_base& parent, outcome_base& result) noexcept;

 private:
  static std::coroutine_handle<> child_ended(const ended_frame& child) noexcept;
  static const wait_kind listens_for_token;
  static bool on_stop(stop_waiter& self) noexcept;
  static void go_on(stop_listener& self) noexcept;

  std::stop_source source_{std::nostopstate};
  promise_base* parent_ = nullptr;
  bool listening_ = false;  // false: the stop had come before
};

}  // namespace detail

/// Awaiter of with_stop().
template <class T>
class [[nodiscard]] with_stop_awaiter : private detail::stop_from_token {
 public:
  using tandem_awaiter = void;

  with_stop_awaiter(std::stop_token&& token, task<T>&& child) noexcept
      : stop_from_token(std::move(token)), child_(std::move(child)) {}
  /// For an awaiter that has not started.
  with_stop_awaiter(with_stop_awaiter&& other) noexcept
      : stop_from_token(std::move(other)), child_(std::move(other.child_)) {}

  bool await_ready() const noexcept {
    TANDEM_ASSERT(child_, "with_stop was given an empty task");
    return false;
  }
  template <class Promise>
  TANDEM_ALWAYS_INLINE std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> parent) noexcept {
    detail::promise_base& child = child_.release();
    start(child, parent.promise(), result_);
    return detail::transfer(child.handle());
  }
  std::exception_ptr await_failure() noexcept { return result_.take_failure(); }
  T await_resume() { return result_.get(); }

 private:
  task<T> child_;
  detail::outcome<T> result_;
};

/// Awaiter of with_stop_token().
template <class Body>
class [[nodiscard]] with_stop_token_awaiter : private detail::stop_to_token {
  using body_task = std::invoke_result_t<Body&, std::stop_token>;
  static_assert(detail::is_task_type<body_task>, "the callable of with_stop_token returns a task");

 public:
  using tandem_awaiter = void;
  using value_type = typename body_task::value_type;

  explicit with_stop_token_awaiter(Body&& body) : body_(std::move(body)) {}
  /// For an awaiter that has not started.
  with_stop_token_awaiter(with_stop_token_awaiter&& other) noexcept(
      std::is_nothrow_move_constructible_v<Body>)
      : stop_to_token(std::move(other)), body_(std::move(other.body_)) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  TANDEM_ALWAYS_INLINE std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> parent) noexcept {
    body_task made;
    try {
      made = std::invoke(body_, make_token(parent.promise()));
    } catch (...) {
      result_.error = std::current_exception();
      return detail::transfer(parent);
    }
    TANDEM_ASSERT(made, "the callable of with_stop_token returned an empty task");
    detail::promise_base& child = made.release();
    start(child, parent.promise(), result_);
    return detail::transfer(child.handle());
  }
  std::exception_ptr await_failure() noexcept { return result_.take_failure(); }
  value_type await_resume() { return result_.get(); }

 private:
  Body body_;
  detail::outcome<value_type> result_;
};

/// Runs `child`, and stops it (reason user) when `token` is asked to stop.
///
///     auto answer = co_await tandem::with_stop(button.get_token(), ask(question));
///
/// @param child    a task, or anything else that can be awaited (one frame more)
/// @returns        the child's value
/// @throws         operation_cancelled if the child gave up; else what it throws
/// @cancellation   a stop of the caller reaches the child, too
/// @resumes_on     the caller's home, after the child has ended
/// @cost           one std::stop_callback; no allocation, but where libstdc++ has no futex
///                 (MinGW): there one for each stop state
template <detail::combinable A>
detail::marked_t<A, with_stop_awaiter<detail::awaited_t<A>>> with_stop(std::stop_token token,
                                                                       A&& child) {
  return detail::marked_t<A, with_stop_awaiter<detail::awaited_t<A>>>(
      std::move(token), detail::as_task(std::forward<A>(child)));
}

/// Runs the task `body(token)`, with a std::stop_token that follows the stop state of this task:
/// for code that knows std::stop_token only.
///
///     co_await tandem::with_stop_token([&](std::stop_token token) -> tandem::task<void> {
///       render(scene, token);  // polls it
///       co_return;
///     });
///
/// @param body     kept alive until its task has ended: the lambda may capture. With g++ 12 a
///                 lambda that captures objects with destructors needs a name: a temporary does not
///                 compile
/// @returns        what the task returns
/// @throws         what it throws; std::bad_alloc
/// @cancellation   a stop of the caller reaches the task and the token, the task's own waits first:
///                 a wait may end as cancelled a moment before the token says so, and a task that
///                 leaves by it takes its callbacks along uncalled. Callbacks of the token run on
///                 the stopper's thread, which holds no lock then; like any std::stop_callback they
///                 must not throw
/// @resumes_on     the caller's home, after the task and the callbacks have ended
/// @cost           one std::stop_source, which allocates
template <class Body>
  requires std::invocable<std::decay_t<Body>&, std::stop_token>
with_stop_token_awaiter<std::decay_t<Body>> with_stop_token(Body&& body) {
  static_assert(
      detail::safe_in_co_await<Body&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, "
      "or capture by reference");
  return with_stop_token_awaiter<std::decay_t<Body>>(std::decay_t<Body>(std::forward<Body>(body)));
}

}  // namespace tandem::inline v0
