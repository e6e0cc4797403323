// event.hpp: a flag that tasks wait for.
// SPDX-License-Identifier: MIT
//
// Word: the value's lowest bit says "set" (detail/lock_word.hpp).
#pragma once

#include <coroutine>

#include <tandem/config.hpp>
#include <tandem/detail/wait_list.hpp>

namespace tandem::inline v0 {

class event_awaiter;

/// A flag that stays set until it is reset; all that wait for it go on when it is set.
///
///     tandem::event ready;
///     scope.spawn(serve(ready));   // co_await ready.wait();
///     ready.set();
///
/// What happened before set() has happened for those that go on. It may be destroyed as soon as a
/// wait has returned, even inside the set() of another thread, if nobody else waits or will set it.
///
/// @thread_safety  all members from any thread; set() and reset() also outside any task
class TANDEM_API event {
 public:
  explicit event(bool is_set = false) noexcept : word_(is_set ? 1 : 0) {}
  event(const event&) = delete;
  event& operator=(const event&) = delete;

  bool is_set() const noexcept { return (word_.load() & detail::lock_word::one) != 0; }

  /// @cost  one CAS without waiters; else one post for each run of waiters with the same home
  void set() noexcept;
  /// Those that set() has let go stay free.
  void reset() noexcept;

  /// Waits until it is set.
  ///
  /// @throws         operation_cancelled if a stop comes while it waits, or came before
  /// @cancellation   may lose the race and return normally; one that is ready may go through in a
  ///                 stopped task, up to 128 in a row
  /// @resumes_on     the caller's home
  /// @cost           one load if it is set; no allocation
  event_awaiter wait() noexcept;
  event_awaiter operator co_await() noexcept;

  // Implementation
 private:
  friend event_awaiter;

  detail::lock_word word_;
  detail::wait_list waiting_;
};

/// Awaiter of event::wait().
class [[nodiscard]] TANDEM_API event_awaiter {
 public:
  using tandem_awaiter = void;

  explicit event_awaiter(event& target) noexcept : target_(&target) {}
  event_awaiter(event_awaiter&&) noexcept = default;

  bool await_ready() noexcept { return !detail::must_stop() && target_->is_set() && room_.ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  void await_resume() const { room_.throw_if_cancelled(); }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept { return target_->is_set(); }
  bool select_arm(detail::select_place& as) noexcept;
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 private:
  bool start(detail::promise_base& waiting) noexcept;

  event* target_;
  detail::waiter_room<detail::waiter> room_;
};

inline event_awaiter event::wait() noexcept { return event_awaiter(*this); }
inline event_awaiter event::operator co_await() noexcept { return wait(); }

}  // namespace tandem::inline v0
