// timer_monitor.cpp: sleeping until something is due.
// SPDX-License-Identifier: MIT
#include "timers/timer_monitor.hpp"

#include "platform/futex.hpp"
#include "platform/threads.hpp"
#include "timers/timer_driving.hpp"

namespace tandem::inline v0::detail {

void timer_monitor::start() {
  thread_ = platform::start_thread("tandem-monitor", [this] { loop(); });
}

void timer_monitor::wake() noexcept {
  signal_.fetch_add(1, std::memory_order_release);  // pairs with the acquire in loop()
  platform::wake_one(signal_);
}

void timer_monitor::stop() noexcept {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_release);
  wake();
  thread_.join();
}

void timer_monitor::loop() noexcept {
  while (true) {
    const std::uint32_t seen = signal_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_acquire)) return;
    if (driving_.has_driver()) {
      platform::wait_on(signal_, seen);
      continue;
    }
    const clock::time_point until = timers_.sleep_begins(nullptr);
    if (until > timers_.now()) {
      platform::wait_on(signal_, seen, until.time_since_epoch().count());
    }
    timers_.sleep_ended(nullptr);
    if (!driving_.has_driver()) timers_.expire(timers_.now());
  }
}

}  // namespace tandem::inline v0::detail
