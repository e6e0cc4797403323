// thread_pulse.cpp: what the system knows of the thread.
// SPDX-License-Identifier: MIT
#include "growth/thread_pulse.hpp"

#include "platform/os_thread.hpp"

namespace tandem::inline v0::io {

void thread_pulse::started() noexcept {
  cpu_clock_.store(platform::cpu_clock_of_this_thread(), std::memory_order_relaxed);
  os_thread_.store(platform::number_of_this_thread(), std::memory_order_relaxed);
  running_.store(true, std::memory_order_relaxed);  // published by the start
}

std::chrono::nanoseconds thread_pulse::cpu_time() const noexcept {
  return platform::cpu_time_of(
      cpu_clock_.load(std::memory_order_relaxed));  // published by the start
}

}  // namespace tandem::inline v0::io
