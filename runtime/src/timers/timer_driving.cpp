// timer_driving.cpp: a driver that sleeps, and changes of the driver.
// SPDX-License-Identifier: MIT
#include "timers/timer_driving.hpp"

#include <exception>

namespace tandem::inline v0::detail {

clock::time_point timer_driving::sleep_begins(const timer_driver* who) noexcept {
  const std::lock_guard lock(change_);  // timers/driver
  if (driver_ != who) return clock::time_point::max();
  const std::int64_t rest = rests_until_.load(std::memory_order_relaxed);  // timers/rest
  std::int64_t until = awake;
  while (true) {
    const std::int64_t first = timers_.next_look();  // timers/sleep
    if (first <= rest) {
      // As if awake: whatever is armed, the driver gets up at the end of its rest and looks.
      sleeps_until_.store(awake, std::memory_order_relaxed);
      return clock::time_point(clock::duration(rest));
    }
    if (first == until) return clock::time_point(clock::duration(until));
    until = first;
    sleeps_until_.store(until, std::memory_order_seq_cst);  // timers/sleep
  }
}

void timer_driving::sleep_ended(const timer_driver* who) noexcept {
  const std::lock_guard lock(change_);  // timers/driver
  if (driver_ != who) return;
  // Relaxed: too early a "not asleep" costs nothing, the driver looks again before it sleeps.
  sleeps_until_.store(awake, std::memory_order_relaxed);
}

void timer_driving::change(timer_driver* driver, bool for_good) noexcept {
  {
    const std::lock_guard lock(change_);
    if (is_fixed_ && !for_good) return;
    is_fixed_ = for_good;
    if (driver_ == driver) return;
    driver_ = driver;
    // Relaxed: whoever still reads that somebody drives arms a timer that waits for the next one.
    timers_.driven_.store(timers_.is_virtual_ || driver != nullptr || monitor_.is_started(),
                          std::memory_order_relaxed);
    if (driver != nullptr) {
      // Awake: it computes its sleep when it gets there, and the wake makes it get there. The
      // monitor finds out when its sleep ends, and sleeps for good.
      sleeps_until_.store(awake, std::memory_order_seq_cst);
      driver->wake();
      return;
    }
    // As if the monitor slept for ever, so that the next arm() wakes it (timers/sleep).
    sleeps_until_.store(never, std::memory_order_seq_cst);
    if (!timers_.is_virtual_ && timers_.next_look() != never) (void)wake_monitor();  // timers/sleep
  }
}

bool timer_driving::wake_monitor() noexcept {
  if (!monitor_.is_started()) {
    try {
      monitor_.start();
    } catch (const std::exception&) {
      return false;  // the next one who needs it tries again
    }
    timers_.driven_.store(true, std::memory_order_relaxed);
  }
  monitor_.wake();
  return true;
}

bool timer_driving::start_monitor() noexcept {
  const std::lock_guard lock(change_);
  return driver_ != nullptr || wake_monitor();
}

void timer_driving::wake_driver() noexcept {
  std::lock_guard lock(change_);
  ++wakes_;
  if (driver_ != nullptr) {
    driver_->wake();
  } else if (!timers_.is_virtual_) {
    (void)wake_monitor();
  }
}

bool timer_driving::has_driver() const noexcept {
  const std::lock_guard lock(change_);
  return driver_ != nullptr;
}

bool timer_driving::is_fixed() const noexcept {
  const std::lock_guard lock(change_);
  return is_fixed_;
}

std::uint64_t timer_driving::wakes() const noexcept {
  const std::lock_guard lock(change_);
  return wakes_;
}

}  // namespace tandem::inline v0::detail
