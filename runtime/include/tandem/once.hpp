// once.hpp: something that is done once, by whoever comes first, and that the others wait for.
// SPDX-License-Identifier: MIT
//
// Word: the value is 0 (nobody has begun), 1 (somebody is at it) or 2 (done)
// (detail/lock_word.hpp). An attempt that fails hands the turn to the oldest waiter.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/as_task.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

class once;

namespace detail {

/// Waits for the turn, or until it is done.
class [[nodiscard]] TANDEM_API once_turn {
 public:
  using tandem_awaiter = void;

  explicit once_turn(once& target) noexcept : target_(&target) {}
  once_turn(once_turn&&) noexcept = default;

  bool await_ready() noexcept;
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  /// @returns  whether it is the caller's turn
  bool await_resume() const;

 private:
  bool start(promise_base& waiting) noexcept;

  once* target_;
  waiter_room<waiter> room_;
};

}  // namespace detail

template <class F>
class once_awaiter;

/// Runs something once, however many tasks ask for it; all of them wait until it is done.
///
///     tandem::once opened;
///     co_await opened.call([&] { return open_log(); });   // in each task that writes
///
/// What the call did has happened for all whose await has returned.
///
/// @thread_safety  all members from any thread
class TANDEM_API once {
 public:
  once() noexcept : word_(0) {}
  once(const once&) = delete;
  once& operator=(const once&) = delete;

  bool is_done() const noexcept { return (word_.load() & detail::lock_word::value_mask) == done; }

  /// Awaits `f()` if nobody has done so, or waits until it is done.
  ///
  /// @param f        returns a task, or anything else that can be awaited; its value is dropped.
  ///                 It must not call the same `once`. With g++ 12 a lambda that captures objects
  ///                 with destructors needs a name
  /// @throws         what `f` or its task throws, to the caller that ran it: the turn goes to the
  ///                 oldest that waits; operation_cancelled
  /// @cancellation   a stop ends the wait, or reaches the task if it is this caller's turn: then
  ///                 the turn goes to the oldest that waits
  /// @resumes_on     the caller's home
  /// @cost           one load if it is done; else two frames
  template <class F>
    requires detail::combinable<std::invoke_result_t<std::decay_t<F>&>>
  once_awaiter<std::decay_t<F>> call(F&& f);

  // Implementation
  /// The caller's turn is over.
  void finish() noexcept;
  /// once/pass. It has failed.
  void pass_turn() noexcept;

 private:
  friend detail::once_turn;
  static constexpr detail::lock_word::word running = detail::lock_word::one;
  static constexpr detail::lock_word::word done = 2 * detail::lock_word::one;

  detail::lock_word word_;
  detail::wait_list waiting_;
};

inline bool detail::once_turn::await_ready() noexcept {
  if (must_stop()) return false;
  if (target_->is_done()) return room_.ready();
  lock_word::word fresh = 0;
  while (!target_->word_.change(fresh, once::running)) {
    if (fresh != 0) return false;
  }
  return room_.ready();
}
inline bool detail::once_turn::await_resume() const {
  room_.throw_if_cancelled();
  // Who has the turn keeps it from being done.
  return !target_->is_done();
}

namespace detail {

template <class F>
task<void> run_once(once& target, F& f) {
  once_turn turn(target);
  co_await wait_for(turn);
  co_await pass_on(turn.await_failure());
  if (!turn.await_resume()) co_return;
  std::exception_ptr failure;
  try {
    auto inner = as_task(std::invoke(f)).operator co_await();
    co_await wait_for(inner);
    failure = inner.await_failure();
    if (failure == nullptr) (void)inner.await_resume();
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure == nullptr) {
    target.finish();
  } else {
    target.pass_turn();
  }
  co_await pass_on(std::move(failure));
}

}  // namespace detail

/// Awaiter of once::call().
template <class F>
class [[nodiscard]] once_awaiter {
 public:
  using tandem_awaiter = void;

  template <class G>
  once_awaiter(once& target, G&& call) : target_(&target), call_(std::forward<G>(call)) {}
  /// For an awaiter that has not started.
  once_awaiter(once_awaiter&& other) : target_(other.target_), call_(std::move(other.call_)) {}

  bool await_ready() const noexcept {
    return !detail::must_stop() && target_->is_done() && detail::charge_ready_await();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) {
    return detail::call_awaited(detail::run_once(*target_, call_).release(), parent.promise(),
                                result_);
  }
  std::exception_ptr await_failure() noexcept { return result_.take_failure(); }
  void await_resume() { result_.get(); }

 private:
  once* target_;
  F call_;
  detail::outcome<void> result_;
};

template <class F>
  requires detail::combinable<std::invoke_result_t<std::decay_t<F>&>>
once_awaiter<std::decay_t<F>> once::call(F&& f) {
  static_assert(
      detail::safe_in_co_await<F&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, "
      "or capture by reference");
  return once_awaiter<std::decay_t<F>>(*this, std::forward<F>(f));
}

}  // namespace tandem::inline v0
