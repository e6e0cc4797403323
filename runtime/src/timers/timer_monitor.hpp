// timer_monitor.hpp: the thread that drives expiry while no completion thread does.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <tandem/detail/timer_service.hpp>

namespace tandem::inline v0::detail {

/// Made by the first timer; sleeps for good when nothing is due.
class timer_monitor {
 public:
  timer_monitor(timer_service& timers, timer_driving& driving) noexcept
      : timers_(timers), driving_(driving) {}
  timer_monitor(const timer_monitor&) = delete;
  timer_monitor& operator=(const timer_monitor&) = delete;

  // Under the lock of changes, both.
  bool is_started() const noexcept { return thread_.joinable(); }
  /// @throws  std::system_error, std::bad_alloc
  void start();

  void wake() noexcept;
  /// For good. Nobody starts or wakes it any more.
  void stop() noexcept;

 private:
  void loop() noexcept;

  timer_service& timers_;
  timer_driving& driving_;
  std::atomic<std::uint32_t> signal_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace tandem::inline v0::detail
