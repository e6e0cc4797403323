// stopped.hpp: waits for a stop, and goes on.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <exception>

#include <tandem/detail/leaf.hpp>
#include <tandem/detail/selection.hpp>

namespace tandem::inline v0 {

/// Awaiter of stopped().
class [[nodiscard]] TANDEM_API stopped_awaiter : private detail::leaf {
 public:
  using tandem_awaiter = void;
  using select_of_stop = void;

  stopped_awaiter() noexcept;
  stopped_awaiter(stopped_awaiter&&) noexcept = default;

  bool await_ready() const noexcept { return stop_requested(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return begin(self.promise());  // it is nobody's but the stopper's
  }
  stop_reason await_resume() const noexcept { return current_stop_reason(); }

  // As a branch of select() (protocol selecting).
  bool select_try() const noexcept { return stop_requested(); }
  bool select_arm(detail::select_place& as) noexcept;
  void select_disarm() const noexcept {}
  void select_reset() const noexcept {}

 private:
  static bool on_stop(stop_waiter& self) noexcept;
  static const detail::wait_kind waits_for_stop;
};

/// Waits until the current task is asked to stop, and returns then. As a branch of select() it lets a
/// loop end by its own means:
///
///     auto hit = co_await tandem::select(jobs.receive(), tandem::stopped());
///     if (hit.index() == 1) break;   // the task is stopped: its next await that waits throws
///
/// @returns      why
/// @resumes_on   the caller's home
/// @cost         a load if a stop was requested; no allocation
inline stopped_awaiter stopped() noexcept { return stopped_awaiter(); }

}  // namespace tandem::inline v0
