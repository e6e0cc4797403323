// sleep.hpp: waits for a point in time.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <coroutine>

#include <tandem/detail/leaf.hpp>
#include <tandem/detail/timer.hpp>

namespace tandem::inline v0 {

/// Awaiter of sleep_for() and sleep_until().
class [[nodiscard]] TANDEM_API sleep_awaiter : private detail::leaf, private detail::timer_node {
 public:
  using tandem_awaiter = void;

  explicit sleep_awaiter(std::chrono::steady_clock::time_point deadline) noexcept;
  sleep_awaiter(sleep_awaiter&& other) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  void await_resume() const { throw_if_cancelled(); }

 private:
  bool start(detail::promise_base& waiting) noexcept;
  static bool on_stop(stop_waiter& self) noexcept;
  static void on_fire(timer_node& self) noexcept;

  std::chrono::steady_clock::time_point deadline_;
};

/// Resumes the task at or after `deadline`.
///
/// @throws         operation_cancelled if a stop was requested first
/// @cancellation   ends the wait at once; if the time had come already, it returns normally
/// @resumes_on     its home
/// @cost           one heap insertion, no allocation; a deadline in the past costs one round trip
inline sleep_awaiter sleep_until(std::chrono::steady_clock::time_point deadline) noexcept {
  return sleep_awaiter(deadline);
}

/// As sleep_until(now + duration).
///
///     co_await tandem::sleep_for(std::chrono::milliseconds(20));
template <class Rep, class Period>
sleep_awaiter sleep_for(std::chrono::duration<Rep, Period> duration) noexcept {
  using clock = std::chrono::steady_clock;
  const auto now = clock::now();
  if (duration <= duration.zero()) return sleep_awaiter(now);
  // Durations beyond the clock's range mean "for ever".
  if (duration >
      std::chrono::duration_cast<std::chrono::duration<double>>(clock::time_point::max() - now)) {
    return sleep_awaiter(clock::time_point::max());
  }
  return sleep_awaiter(now + std::chrono::ceil<clock::duration>(duration));
}

}  // namespace tandem::inline v0
