// sleep.cpp: a leaf that waits for a timer.
// SPDX-License-Identifier: MIT
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>

namespace tandem::inline v0 {

using detail::timers_of;

sleep_awaiter::sleep_awaiter(std::chrono::steady_clock::time_point deadline) noexcept
    : leaf(&sleep_awaiter::on_stop), timer_node(&sleep_awaiter::on_fire), deadline_(deadline) {}

bool sleep_awaiter::start(detail::promise_base& waiting) noexcept {
  detail::timer_service& timers = timers_of(*waiting.env->runtime());
  timers.prepare(*this);  // T1: on_stop may come as soon as begin() has published the leaf
  if (!begin(waiting)) return false;
  if (timers.arm(*this, deadline_)) return true;
  // on_stop was first (T2). Either it has ended already or it resumes the task when it does.
  set_cancelled();
  return !finish_inline();
}

bool sleep_awaiter::on_stop(stop_waiter& self) noexcept {
  auto& sleep = static_cast<sleep_awaiter&>(self);
  if (timers_of(*sleep.waiting().env->runtime()).disarm(sleep)) sleep.finish_stopped();
  return true;
}

void sleep_awaiter::on_fire(timer_node& self) noexcept {
  static_cast<sleep_awaiter&>(self).finish();
}

}  // namespace tandem::inline v0
