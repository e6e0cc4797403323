// finally.hpp: asynchronous clean-up that runs however a task ends.
// SPDX-License-Identifier: MIT
//
// Destructors cannot await. The clean-up here runs once, after the body has ended by value,
// exception or cancellation; stops from outside do not reach it, but a grace period of its own ends
// it.
#pragma once

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/task.hpp>
#include <tandem/timeout.hpp>

namespace tandem::inline v0 {

/// How long a clean-up may take unless the call says otherwise.
inline constexpr std::chrono::seconds default_grace{10};

namespace detail {

/// A clean-up's failure is thrown, unless the body has failed, too: then it is reported.
TANDEM_API void conclude_clean_up(bool body_failed, std::exception_ptr&& failure);
TANDEM_API void report_clean_up(const std::exception_ptr& failure) noexcept;

template <class A>
timeout_awaiter<awaited_t<A>> with_grace(std::chrono::steady_clock::duration grace, A&& clean_up) {
  return timeout_awaiter<awaited_t<A>>(deadline_after(grace), as_task(std::forward<A>(clean_up)),
                                       border_kind::closed);
}

/// A callable is called behind the border, too: it may be a plain function that looks for a stop.
template <class C>
task<void> called_clean_up(C& clean_up) {
  auto inner = as_task(std::invoke(clean_up)).operator co_await();
  co_await wait_for(inner);
  co_await pass_on(inner.await_failure());
}

/// What a clean-up is made of: a callable, or the awaitable itself.
template <class C>
decltype(auto) made_clean_up(C& clean_up) {
  if constexpr (std::invocable<C&>) {
    return called_clean_up(clean_up);
  } else {
    return std::move(clean_up);
  }
}

template <class T, class CleanUp>
task<T> run_finally(task<T> body, CleanUp clean_up, std::chrono::steady_clock::duration grace) {
  auto inner = std::move(body).operator co_await();
  co_await wait_for(inner);
  std::exception_ptr failure = inner.await_failure();
  std::exception_ptr of_clean_up;
  try {
    auto cleaning = with_grace(grace, made_clean_up(clean_up));
    co_await wait_for(cleaning);
    of_clean_up = cleaning.await_failure();
  } catch (...) {
    of_clean_up = std::current_exception();
  }
  if (failure == nullptr) {
    failure = std::move(of_clean_up);
  } else if (of_clean_up != nullptr) {
    report_clean_up(of_clean_up);
  }
  co_await pass_on(std::move(failure));
  co_return inner.await_resume();
}

}  // namespace detail

/// Runs `body`, and then `clean_up`, whatever has become of `body`.
///
///     auto sent = co_await tandem::finally(upload(file), [&] { return remove(file); }, 2s);
///
/// @param body      a task, or anything else that can be awaited
/// @param clean_up  called once, after the body has ended: a callable that returns a task; or a
///                  task. With g++ 12 a lambda that captures objects with destructors needs a name
/// @param grace     after which the clean-up is stopped (reason deadline). A runtime that gets no
///                  thread for its timers runs the clean-up all the same, without a limit
/// @returns         a task with the body's value; destroyed before it started it has run neither
/// @throws          what the body throws; a failure of the clean-up then goes to
///                  runtime_options::on_suppressed_exception. Else the clean-up's failure
/// @cancellation    a stop of the caller reaches the body, not the clean-up
/// @resumes_on      the caller's home
/// @cost            one frame and one timer; a callable: a second frame
template <detail::combinable A, class CleanUp>
task<detail::awaited_t<A>> finally(A&& body, CleanUp&& clean_up,
                                   std::chrono::steady_clock::duration grace = default_grace) {
  static_assert(
      !std::invocable<std::decay_t<CleanUp>&> || detail::safe_in_co_await<CleanUp&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, "
      "or capture by reference");
  return detail::run_finally<detail::awaited_t<A>, std::decay_t<CleanUp>>(
      detail::as_task(std::forward<A>(body)), std::forward<CleanUp>(clean_up), grace);
}

}  // namespace tandem::inline v0
