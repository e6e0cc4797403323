// condition_variable.hpp: waits until something has become true that a mutex guards.
// SPDX-License-Identifier: MIT
//
// A wait enters the list before it gives the mutex up. So whoever changes what the mutex guards,
// and notifies after that, finds it there: no notification is lost.
#pragma once

#include <concepts>
#include <coroutine>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/as_task.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/mutex.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// Waits until something has become true that a mutex guards.
///
///     auto guard = co_await m.scoped_lock();
///     co_await filled.wait(m, [&] { return !items.empty(); });
///     use(items.front());                                   // m is held, and it is true
///     // elsewhere, after a change under the same mutex:
///     filled.notify_one();
///
/// A channel or an event is simpler where one of them fits.
///
/// @thread_safety  all members from any thread; notify_one() and notify_all() also outside any task
class TANDEM_API condition_variable {
 public:
  condition_variable() noexcept : word_(0) {}
  condition_variable(const condition_variable&) = delete;
  condition_variable& operator=(const condition_variable&) = delete;

  /// Lets the oldest waiter look again.
  ///
  /// @cost  one load without waiters, else one post
  void notify_one() noexcept {
    if ((word_.load() & (detail::lock_word::waiters | detail::lock_word::locked)) != 0)
      notify_one_slow();
  }
  /// Lets all look again.
  ///
  /// @cost  one load without waiters, else one post for each run of waiters with the same home
  void notify_all() noexcept {
    if ((word_.load() & (detail::lock_word::waiters | detail::lock_word::locked)) != 0)
      notify_all_slow();
  }

  /// Gives `held` up until it is notified, and takes it again. It may be notified for something
  /// that is gone by then: the form with a predicate looks again.
  ///
  /// @param held     the caller holds it, and holds it again when the await ends, however it ends;
  ///                 a guard of it stays what it is
  /// @throws         operation_cancelled if a stop comes while it waits, or came before;
  ///                 std::bad_alloc, before anything has happened
  /// @cancellation   may lose the race and return normally: then it was notified. A stopped wait
  ///                 takes the mutex again, however long that takes, and no notification with it
  /// @resumes_on     the caller's home
  /// @cost           two frames from the free lists
  task<void> wait(mutex& held);

  /// As wait(held) until `is_true()`; does not wait if it is true already.
  ///
  /// @param is_true  called with the mutex held; a copy. With g++ 12 a lambda that captures objects
  ///                 with destructors needs a name
  /// @throws         what it throws, too: then the caller holds the mutex
  template <std::predicate Predicate>
  task<void> wait(mutex& held, Predicate&& is_true);

  // Implementation
 private:
  friend class condition_awaiter;
  void notify_one_slow() noexcept;
  void notify_all_slow() noexcept;
  template <class Predicate>
  static task<void> wait_for_true(condition_variable& self, mutex& held, Predicate is_true) {
    while (!is_true()) {
      auto wait = self.wait(held).operator co_await();
      co_await detail::wait_for(wait);
      co_await detail::pass_on(wait.await_failure());
    }
  }

  detail::lock_word word_;  // its value: nothing; it is the list's lock
  detail::wait_list waiting_;
};

/// Awaiter within condition_variable::wait(): until it is notified, without the mutex.
class [[nodiscard]] TANDEM_API condition_awaiter {
 public:
  using tandem_awaiter = void;

  condition_awaiter(condition_variable& target, mutex& held) noexcept
      : target_(&target), held_(&held) {}
  condition_awaiter(condition_awaiter&&) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  /// After the wait: whether the mutex was given up.
  bool has_released() const noexcept { return has_released_; }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  void await_resume() const { room_.throw_if_cancelled(); }

 private:
  bool start(detail::promise_base& waiting) noexcept;

  condition_variable* target_;
  mutex* held_;
  bool has_released_ = false;  // before it is in the list
  detail::waiter_room<detail::waiter> room_;
};

template <std::predicate Predicate>
task<void> condition_variable::wait(mutex& held, Predicate&& is_true) {
  static_assert(
      detail::safe_in_co_await<Predicate&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, "
      "or capture by reference");
  return wait_for_true<std::decay_t<Predicate>>(*this, held, std::forward<Predicate>(is_true));
}

}  // namespace tandem::inline v0
