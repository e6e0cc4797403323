// cpu_meter.hpp: the share of the CPUs that the process uses.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>

#include "platform/clocks.hpp"

namespace tandem::inline v0::detail {

/// Read by one thread at a time, under the lock of the control.
class cpu_meter {
 public:
  using clock = std::chrono::steady_clock;

  unsigned cpus() const noexcept { return cpus_; }
  /// sizing/follow. From the next reading on.
  void set_cpus(unsigned cpus) noexcept { cpus_ = cpus; }
  /// What was before does not count.
  void begin(clock::time_point now) noexcept {
    read_at_ = now;
    used_ = platform::cpu_time_of_process();
  }
  /// Nothing, unless so much time has passed since the last reading.
  void read(clock::time_point now, std::chrono::nanoseconds interval) noexcept {
    const std::chrono::nanoseconds elapsed = now - read_at_;
    if (elapsed < interval) return;
    const std::chrono::nanoseconds used = platform::cpu_time_of_process();
    share_.store(std::clamp(static_cast<double>((used - used_).count()) /
                                (static_cast<double>(elapsed.count()) * cpus_),
                            0.0, 1.0),
                 std::memory_order_relaxed);
    read_at_ = now;
    used_ = used;
  }
  /// Any thread: 0 to 1, as last read. Before the first reading 1, so that nothing climbs.
  double share() const noexcept { return share_.load(std::memory_order_relaxed); }

 private:
  unsigned cpus_ = usable_cpus();
  clock::time_point read_at_{};
  std::chrono::nanoseconds used_{};
  std::atomic<double> share_{1.0};
};

}  // namespace tandem::inline v0::detail
