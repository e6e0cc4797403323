// sleep.cpp: a leaf that waits for a timer.
// SPDX-License-Identifier: MIT
#include <utility>

#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>

namespace tandem::inline v0 {

using detail::timers_of;

constinit const detail::wait_kind sleep_awaiter::waits_for_time(
    &sleep_awaiter::on_stop, "", detail::wait_end::time,
    [](const stop_waiter& wait, detail::wait_note& note) noexcept {
      note.verb = "sleeps";
      note.until_ns = static_cast<const sleep_awaiter&>(wait).deadline().time_since_epoch().count();
    });

sleep_awaiter::sleep_awaiter(std::chrono::steady_clock::time_point deadline) noexcept
    : leaf(waits_for_time), timer_node(&sleep_awaiter::on_fire) {
  set_deadline(deadline);
}

bool sleep_awaiter::start(detail::promise_base& waiting) noexcept {
  if (deadline() == std::chrono::steady_clock::time_point::min()) return give_way(waiting);
  detail::timer_service& timers = timers_of(*waiting.env->runtime());
  if (!timers.is_driven()) [[unlikely]] {
    set_waiting(waiting);
    set_cancelled();
    set_deadline(undriven);
    return false;
  }
  // timers/shard: on_stop may come as soon as begin() has published the leaf
  timers.prepare(*this);
  if (!begin(waiting)) return false;
  if (timers.arm(*this, deadline())) return true;
  // on_stop was first (timers/arm). Either it has ended already or it resumes the task when it
  // does.
  set_cancelled();
  return !finish_unposted();
}

bool sleep_awaiter::give_way(detail::promise_base& waiting) noexcept {
  set_waiting(waiting);
  if (waiting.env->stop().stop_requested()) {
    set_cancelled();
    return false;
  }
  waiting.post(post_kind::yield);  // the last access: it may run elsewhere already
  return true;
}

bool sleep_awaiter::on_stop(stop_waiter& self) noexcept {
  auto& sleep = static_cast<sleep_awaiter&>(self);
  if (timers_of(*sleep.waiting().env->runtime()).disarm(sleep)) sleep.finish_stopped();
  return true;
}

void sleep_awaiter::on_fire(timer_node& self, detail::fired_timers& batch) noexcept {
  auto& sleep = static_cast<sleep_awaiter&>(self);
  detail::promise_base& waiting = sleep.waiting();
  if (sleep.end_unposted()) batch.resume(waiting);
}

bool sleep_awaiter::select_try() noexcept {
  const std::chrono::steady_clock::time_point due = deadline();
  if (due == std::chrono::steady_clock::time_point::min()) return true;
  return std::exchange(was_asked_, true) && due <= tandem::now();
}

bool sleep_awaiter::select_arm(detail::select_place& as) noexcept {
  const std::chrono::steady_clock::time_point due = deadline();
  if (due == std::chrono::steady_clock::time_point::min()) return true;
  join_later(as, &sleep_awaiter::let_go, detail::wait_end::time);
  detail::timer_service& timers = timers_of(*waiting().env->runtime());
  if (!timers.is_driven()) [[unlikely]] {
    not_armed();
    set_deadline(undriven);
    set_cancelled();
    return true;
  }
  timers.prepare(*this);
  (void)timers.arm(*this, due);  // nobody lets it go before the select waits
  return false;
}

bool sleep_awaiter::let_go(leaf& self) noexcept {
  auto& sleep = static_cast<sleep_awaiter&>(self);
  return timers_of(*sleep.waiting().env->runtime()).disarm(sleep);
}

void sleep_awaiter::select_reset() noexcept { timer_node::reset(); }

}  // namespace tandem::inline v0
