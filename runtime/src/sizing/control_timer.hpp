// control_timer.hpp: a timer of a pool's control, which knows whether it waits.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>

#include <tandem/detail/timer_service.hpp>

namespace tandem::inline v0::detail {

class timed_control;

/// Under the lock of the control, which outlives it.
class control_timer final : public timer_node {
 public:
  control_timer(timed_control& of, tandem::runtime& clock_of, fire_function fire) noexcept
      : timer_node(fire), owner(of), clock_of_(clock_of), fire_(fire) {}

  /// It is armed, or what it has called is not over.
  bool waits() const noexcept { return waits_; }
  void arm(std::chrono::steady_clock::duration after) noexcept;
  void arm_if_free(std::chrono::steady_clock::duration after) noexcept {
    if (!waits_) arm(after);
  }
  /// Any thread, about now: it is armed.
  bool is_armed() const noexcept { return is_armed_.load(std::memory_order_relaxed); }
  /// It calls.
  void fires() noexcept { is_armed_.store(false, std::memory_order_relaxed); }
  /// What it has called is over.
  void is_free() noexcept { waits_ = false; }
  /// One that cannot be taken back is about to call, and finds whatever is true then.
  static void call_off(control_timer& which) noexcept;
  /// For good: it is never armed again.
  void end() noexcept { (void)timers_of(clock_of_).disarm(*this); }

  timed_control& owner;

 private:
  tandem::runtime& clock_of_;  // the control may be made before its timers are
  const fire_function fire_;
  bool waits_ = false;
  std::atomic<bool> is_armed_{false};  // for reports
};

}  // namespace tandem::inline v0::detail
