// sleep.hpp: waits for a point in time.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <coroutine>

#include <tandem/clock.hpp>
#include <tandem/detail/leaf.hpp>
#include <tandem/detail/timer_service.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0 {

/// Awaiter of sleep_for() and sleep_until().
class [[nodiscard]] TANDEM_API sleep_awaiter : private detail::leaf, private detail::timer_node {
 public:
  using tandem_awaiter = void;

  /// @param deadline  time_point::min(): it has passed already
  explicit sleep_awaiter(std::chrono::steady_clock::time_point deadline) noexcept;
  sleep_awaiter(sleep_awaiter&& other) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  void await_resume() const {
    if (!cancelled()) [[likely]]
      return;
    if (deadline() == undriven) [[unlikely]]
      detail::timer_service::throw_not_driven();
    // Here, not in a function of its own: each frame between a throw and its handler costs as much
    // as a third of the throw.
    throw_if_cancelled();
  }
  /// That it was stopped; what is rare is thrown.
  std::exception_ptr await_failure() const noexcept {
    return deadline() == undriven ? nullptr : failure_if_cancelled();
  }
  /// For as_result(): nothing is thrown.
  result<void> await_resume_result() const noexcept {
    if (!cancelled()) return {};
    if (deadline() == undriven) {
      return std::make_error_code(std::errc::resource_unavailable_try_again);
    }
    return make_error_code(cancel_reason());
  }

  // As a branch of select() (protocol selecting).
  using select_once = void;
  bool select_try() noexcept;
  bool select_arm(detail::select_place& as) noexcept;
  void select_disarm() const noexcept {}
  void select_reset() noexcept;

 protected:
  void aim(std::chrono::steady_clock::time_point deadline) noexcept { set_deadline(deadline); }

 private:
  /// In the place of the deadline: it has ended, as if cancelled, since nobody would have fired it.
  /// What has passed already is time_point::min().
  static constexpr std::chrono::steady_clock::time_point undriven =
      (std::chrono::steady_clock::time_point::min)() + std::chrono::steady_clock::duration(1);

  bool start(detail::promise_base& waiting) noexcept;
  bool give_way(detail::promise_base& waiting) noexcept;
  static bool on_stop(stop_waiter& self) noexcept;
  static const detail::wait_kind waits_for_time;
  static void on_fire(timer_node& self, detail::fired_timers& batch) noexcept;
  static bool let_go(leaf& self) noexcept;

  bool was_asked_ = false;  // the deadline was looked at when it was made
};

/// What sleep_for() and sleep_until() return. It makes its awaiter when it is awaited, since g++ 12
/// keeps an operand that is an awaiter itself in the frame twice.
class [[nodiscard]] sleep_operation {
 public:
  explicit sleep_operation(std::chrono::steady_clock::time_point deadline) noexcept
      : deadline_(deadline) {}
  sleep_awaiter operator co_await() && noexcept { return sleep_awaiter(deadline_); }

 private:
  std::chrono::steady_clock::time_point deadline_;
};

/// Resumes the task at or after `deadline`.
///
/// @throws         operation_cancelled if a stop was requested first; std::system_error
///                 (resource_unavailable_try_again) if a runtime without io gets no thread for its
///                 timers
/// @cancellation   ends the wait at once; if the time had come already, it returns normally
/// @resumes_on     its home
/// @cost           one clock read, one lock, no allocation; with a deadline in the past as yield()
inline sleep_operation sleep_until(std::chrono::steady_clock::time_point deadline) noexcept {
  using time_point = std::chrono::steady_clock::time_point;
  return sleep_operation(deadline <= tandem::now() ? (time_point::min)() : deadline);
}

/// As sleep_until(tandem::now() + duration).
///
///     co_await tandem::sleep_for(std::chrono::milliseconds(20));
template <class Rep, class Period>
sleep_operation sleep_for(std::chrono::duration<Rep, Period> duration) noexcept {
  if (duration <= duration.zero()) {
    return sleep_operation((std::chrono::steady_clock::time_point::min)());
  }
  return sleep_operation(detail::deadline_after(duration));
}

}  // namespace tandem::inline v0
