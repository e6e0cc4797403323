// shielded.hpp: lets a task run to its end, whoever is stopped around it.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/border.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

/// The part of shielded() that does not depend on the result.
class TANDEM_API shield : private border {
 protected:
  shield() noexcept : border(border_kind::closed) {}
  shield(shield&&) noexcept = default;
  ~shield() = default;

  void start(promise_base& child, promise_base& parent, outcome_base& result) noexcept;

 private:
  static std::coroutine_handle<> child_ended(const ended_frame& child) noexcept;
};

}  // namespace detail

/// Awaiter of shielded().
template <class T>
class [[nodiscard]] shielded_awaiter : private detail::shield {
 public:
  using tandem_awaiter = void;

  explicit shielded_awaiter(task<T>&& child) noexcept : child_(std::move(child)) {}
  /// For an awaiter that has not started.
  shielded_awaiter(shielded_awaiter&& other) noexcept
      : shield(std::move(other)), child_(std::move(other.child_)) {}

  bool await_ready() const noexcept {
    TANDEM_ASSERT(child_, "shielded was given an empty task");
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

/// Runs `child` out of reach of every stop from outside.
///
///     co_await tandem::shielded(write_log(entry));  // all of it or nothing, even in a stopped task
///
/// @param child    a task, or anything else that can be awaited (one frame more)
/// @returns        the child's value
/// @throws         what the child throws
/// @cancellation   none comes through: not the caller's, not the runtime's shutdown, which waits
///                 for the child. Time limits go inside: shielded(f()), with f() using with_timeout
/// @resumes_on     the caller's home
/// @cost           one environment in the awaiter; no allocation
template <detail::combinable A>
detail::marked_t<A, shielded_awaiter<detail::awaited_t<A>>> shielded(A&& child) {
  return detail::marked_t<A, shielded_awaiter<detail::awaited_t<A>>>(
      detail::as_task(std::forward<A>(child)));
}

}  // namespace tandem::inline v0
