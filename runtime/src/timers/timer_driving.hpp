// timer_driving.hpp: who drives the timers of a runtime, and until when that one sleeps.
// SPDX-License-Identifier: MIT
//
// Why no deadline is missed (timers/sleep): a driver that is about to sleep stores the time until
// which it will (seq_cst), then reads every shard's earliest again (seq_cst). Arming stores the
// shard's earliest (seq_cst), then reads the driver's time (seq_cst). So at least one of them sees
// the other: either the driver sleeps shorter, or the arming thread wakes it. Who is the driver may
// change (timers/driver): that, and what a driver says about its sleep, is under one lock, so one
// that has been replaced cannot overwrite what its successor said.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <tandem/detail/timer_service.hpp>

#include "timers/timer_monitor.hpp"

namespace tandem::inline v0::detail {

class timer_driving {
 public:
  /// As if the monitor slept for ever.
  explicit timer_driving(timer_service& timers) noexcept
      : timers_(timers), monitor_(timers, *this) {}
  timer_driving(const timer_driving&) = delete;
  timer_driving& operator=(const timer_driving&) = delete;

  // Of the service, which says what they do.
  clock::time_point sleep_begins(const timer_driver* who) noexcept;
  void sleep_ended(const timer_driver* who) noexcept;
  bool start_monitor() noexcept;

  void change(timer_driver* driver, bool for_good) noexcept;
  bool has_driver() const noexcept;
  bool is_fixed() const noexcept;

  /// timers/sleep. Something was armed for then: whether the driver would come too late.
  bool sleeps_beyond(std::int64_t at_ns) const noexcept {
    return at_ns < sleeps_until_.load(std::memory_order_seq_cst);
  }
  void wake_driver() noexcept;
  /// How often it was woken for an earlier timer.
  std::uint64_t wakes() const noexcept;
  /// timers/rest. What fires is fired in lumps: the driver does not get up before. By drivers only;
  /// two of them, while one takes over, at worst rest too short or too long once.
  void rest_until(std::int64_t time_ns) noexcept {
    rests_until_.store(time_ns, std::memory_order_relaxed);
  }

  /// Nobody arms any more.
  void end() noexcept { monitor_.stop(); }

 private:
  static constexpr std::int64_t never = INT64_MAX;
  static constexpr std::int64_t awake = INT64_MIN;  // the driver will look before it sleeps

  /// Under the lock of changes. @returns false if the system gives no thread
  bool wake_monitor() noexcept;

  timer_service& timers_;
  // Until when the driver sleeps; awake while it does not.
  alignas(64) std::atomic<std::int64_t> sleeps_until_{never};
  mutable std::mutex change_;  // guards driver_ against its wake
  std::atomic<std::int64_t> rests_until_{awake};
  timer_driver* driver_ = nullptr;  // null: the monitor
  bool is_fixed_ = false;           // drive_by() has been called
  std::uint64_t wakes_ = 0;
  timer_monitor monitor_;
};

}  // namespace tandem::inline v0::detail
