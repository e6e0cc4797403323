// control_timer.cpp: arming, and taking back.
// SPDX-License-Identifier: MIT
#include "sizing/control_timer.hpp"

#include <memory>

namespace tandem::inline v0::detail {

void control_timer::arm(std::chrono::steady_clock::duration after) noexcept {
  waits_ = true;
  is_armed_.store(true, std::memory_order_relaxed);
  timer_service& timers = timers_of(clock_of_);
  timers.prepare(*this);
  (void)timers.arm(*this, std::chrono::steady_clock::now() + after);
}

void control_timer::call_off(control_timer& which) noexcept {
  if (!which.waits_ || !timers_of(which.clock_of_).disarm(which)) return;
  timed_control& owner = which.owner;
  tandem::runtime& clock_of = which.clock_of_;
  const fire_function fire = which.fire_;
  // A node that was disarmed stays so: another takes its place.
  std::destroy_at(&which);
  std::construct_at(&which, owner, clock_of, fire);
}

}  // namespace tandem::inline v0::detail
