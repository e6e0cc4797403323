// timeout.hpp: gives a task a time limit.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <utility>

#include <tandem/detail/timer.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

/// The part of with_timeout that does not depend on the result: an environment and its deadline.
class TANDEM_API timeout_scope : private timer_node {
 public:
  explicit timeout_scope(clock::time_point deadline) noexcept;
  timeout_scope(timeout_scope&& other) noexcept;
  timeout_scope& operator=(timeout_scope&&) = delete;

 protected:
  void start(promise_base& child, promise_base& parent) noexcept;

 private:
  static void on_fire(timer_node& self) noexcept;
  static std::coroutine_handle<> on_child_final(promise_base& child) noexcept;

  clock::time_point deadline_;
  environment env_;
  promise_base* parent_ = nullptr;
  // Set by the first of {the child has ended and could not disarm, the expiry has run}; the second
  // goes on with the parent (T5).
  std::atomic<bool> handed_{false};
};

}  // namespace detail

/// Awaiter of with_timeout().
template <class T>
class [[nodiscard]] timeout_awaiter : private detail::timeout_scope {
 public:
  using tandem_awaiter = void;

  timeout_awaiter(std::chrono::steady_clock::time_point deadline, task<T>&& child) noexcept
      : timeout_scope(deadline), child_(std::move(child)) {}

  bool await_ready() const noexcept {
    TANDEM_ASSERT(child_, "with_timeout was given an empty task");
    return false;
  }
  template <class Promise>
  TANDEM_ALWAYS_INLINE std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> parent) noexcept {
    detail::promise_base& child = child_.promise();
    start(child, parent.promise());
    return detail::transfer(child.handle());
  }
  T await_resume() { return child_.promise().get(); }

 private:
  task<T> child_;
};

/// Runs `child`, and asks it to stop when `limit` has passed.
///
///     auto page = co_await tandem::with_timeout(2s, fetch(url));
///
/// @param child    a task; to limit a single await, such as a read, wrap it in one
/// @param limit    from now; zero or less stops the child at its first await
/// @returns        the child's value whenever it completed, whatever the clock says
/// @throws         operation_cancelled with reason deadline if the child gave up; else what it throws
/// @cancellation   a stop of the caller reaches the child
/// @resumes_on     the caller's home, after the child has ended: a child that does not react to the
///                 stop ends late
/// @cost           one timer, one link; no allocation
template <class Rep, class Period, class T>
timeout_awaiter<T> with_timeout(std::chrono::duration<Rep, Period> limit, task<T> child) noexcept {
  using clock = std::chrono::steady_clock;
  const auto now = clock::now();
  const auto room =
      std::chrono::duration_cast<std::chrono::duration<double>>(clock::time_point::max() - now);
  auto deadline = now;
  if (limit > room) {
    deadline = clock::time_point::max();
  } else if (limit > limit.zero()) {
    deadline = now + std::chrono::ceil<clock::duration>(limit);
  }
  return timeout_awaiter<T>(deadline, std::move(child));
}

}  // namespace tandem::inline v0
