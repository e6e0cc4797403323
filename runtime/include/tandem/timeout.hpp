// timeout.hpp: gives a task a time limit: with_timeout, with_deadline.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <utility>

#include <tandem/clock.hpp>
#include <tandem/detail/as_task.hpp>
#include <tandem/detail/border.hpp>
#include <tandem/detail/timer_service.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

/// The part of with_deadline that does not depend on the result: an environment and its deadline.
class TANDEM_API timeout_scope : private border, private timer_node {
 public:
  /// @param deadline  time_point::min(): it is over already
  timeout_scope(clock::time_point deadline, border_kind kind) noexcept;
  timeout_scope(timeout_scope&& other) noexcept;
  timeout_scope& operator=(timeout_scope&&) = delete;

 protected:
  /// Before start(), instead of what was given.
  void limit_to(clock::time_point deadline) noexcept { set_deadline(deadline); }
  /// Calls the child. @returns whether the parent suspends
  bool start(promise_base& child, promise_base& parent, outcome_base& result) noexcept;
  /// As above, for a frame that goes on at `home`, begun or not: the runtime's timers are driven, or
  /// the border is closed.
  bool start_at(executor* home, promise_base& child, promise_base& parent,
                outcome_base& result) noexcept;

 private:
  static timeout_scope& of_environment(const environment& of) noexcept;
  /// timers/limit. When the child first waits, or asks for the second time whether it is to stop.
  void arm() noexcept;
  bool is_asked_again() noexcept;
  bool stop_if_over() noexcept;
  /// Nobody would stop it.
  static void refuse(promise_base& child, outcome_base& result) noexcept;
  /// After the child's end. @returns whether the parent goes on here; if not, the expiry goes on
  /// with it
  bool stop_timer() noexcept;
  static const environment_kind surrounds_limited;
  static void on_fire(timer_node& self, fired_timers& batch) noexcept;
  static std::coroutine_handle<> on_child_final(const ended_frame& child) noexcept;

  promise_base* parent_ = nullptr;
  // Set by the first of {the child has ended and could not disarm, the expiry has run}; the second
  // goes on with the parent (timers/limit).
  std::atomic<bool> handed_{false};
  std::atomic<bool> was_asked_{false};
  bool is_armed_ = false;  // set below the child, read after its end
};

}  // namespace detail

/// Awaiter of with_timeout() and with_deadline().
template <class T>
class [[nodiscard]] timeout_awaiter : private detail::timeout_scope {
 public:
  using tandem_awaiter = void;

  timeout_awaiter(std::chrono::steady_clock::time_point deadline, task<T>&& child,
                  detail::border_kind kind = detail::border_kind::open) noexcept
      : timeout_scope(deadline, kind), child_(std::move(child)) {}
  /// For an awaiter that has not started.
  timeout_awaiter(timeout_awaiter&& other) noexcept
      : timeout_scope(std::move(other)), child_(std::move(other.child_)) {}

  bool await_ready() const noexcept {
    TANDEM_ASSERT(child_, "with_timeout was given an empty task");
    return false;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return start(child_.release(), parent.promise(), result_);
  }
  std::exception_ptr await_failure() noexcept { return result_.take_failure(); }
  T await_resume() { return result_.get(); }

 private:
  task<T> child_;
  detail::outcome<T> result_;
};

/// Runs `child`, and asks it to stop when `limit` has passed.
///
///     auto page = co_await tandem::with_timeout(2s, fetch(url));
///
/// @param child    a task, or anything else that can be awaited, such as a read (one frame more)
/// @param limit    from now; zero or less stops the child when it first waits, or asks
/// @returns        the child's value whenever it completed, whatever the clock says
/// @throws         operation_cancelled with reason deadline if the child gave up; else what it
///                 throws; std::system_error (resource_unavailable_try_again) if a runtime without
///                 io gets no thread for its timers, and then the child has not begun. A limit
///                 further out looks the same: it was that one if stop_requested() says yes here
/// @cancellation   a stop of the caller reaches the child
/// @resumes_on     the caller's home, after the child has ended: a child that does not react to the
///                 stop ends late
/// @cost           one timer and one link once the child waits, or has asked twice whether it is to
///                 stop (the first time costs a look at the clock); a child that does neither is
///                 called like a function. No allocation
template <class Rep, class Period, detail::combinable A>
detail::marked_t<A, timeout_awaiter<detail::awaited_t<A>>> with_timeout(
    std::chrono::duration<Rep, Period> limit, A&& child) {
  using time_point = std::chrono::steady_clock::time_point;
  return detail::marked_t<A, timeout_awaiter<detail::awaited_t<A>>>(
      limit > limit.zero() ? detail::deadline_after(limit) : (time_point::min)(),
      detail::as_task(std::forward<A>(child)));
}

/// What is awaited is the task, not the function that makes it.
template <class Rep, class Period, detail::uncalled F>
auto with_timeout(std::chrono::duration<Rep, Period> limit, F&& f) {
  static_assert(sizeof(F) == 0,
                "with_timeout takes a task, not a function that returns one. Call it: "
                "with_timeout(limit, f()); a lambda with captures has to outlive its task, so give "
                "it a name first, or write with_timeout(limit, invoke(f))");
  return with_timeout(limit, f());  // no further errors
}

/// As above, until a point in time: one deadline for several steps.
///
///     const auto deadline = tandem::now() + 2s;
///     auto page = co_await tandem::with_deadline(deadline, fetch(url));
///     co_await tandem::with_deadline(deadline, store(page));
template <detail::combinable A>
detail::marked_t<A, timeout_awaiter<detail::awaited_t<A>>> with_deadline(
    std::chrono::steady_clock::time_point deadline, A&& child) {
  using time_point = std::chrono::steady_clock::time_point;
  return detail::marked_t<A, timeout_awaiter<detail::awaited_t<A>>>(
      deadline > tandem::now() ? deadline : (time_point::min)(),
      detail::as_task(std::forward<A>(child)));
}

/// What is awaited is the task, not the function that makes it.
template <detail::uncalled F>
auto with_deadline(std::chrono::steady_clock::time_point deadline, F&& f) {
  static_assert(sizeof(F) == 0,
                "with_deadline takes a task, not a function that returns one. Call it: "
                "with_deadline(time, f()); a lambda with captures has to outlive its task, so give "
                "it a name first, or write with_deadline(time, invoke(f))");
  return with_deadline(deadline, f());  // no further errors
}

}  // namespace tandem::inline v0
