// starvation_reporter.hpp: finds out, and says, that work waits and nobody takes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <tandem/pool_options.hpp>
#include <tandem/starvation_report.hpp>

#include "starvation/starvation_gate.hpp"
#include "starvation/starvation_watch.hpp"
#include "starvation/starving_pool.hpp"

namespace tandem::inline v0::detail {

/// By the rounds of the gate, under the lock of the control.
class starvation_reporter {
 public:
  using clock = std::chrono::steady_clock;

  starvation_reporter(const starving_pool& pool, const starving_parts& parts) noexcept
      : pool_(pool), parts_(parts) {}

  /// What was before does not count.
  void begin(clock::time_point now) noexcept { watch_.begin(now.time_since_epoch()); }
  /// gate/next_slot, and what reports need.
  void look(gate_reading& reading) noexcept;
  bool is_due(const pool_options& options, clock::time_point now) noexcept;
  /// @throws  std::bad_alloc
  starvation_report make(const pool_options& options, double cpu) const;
  /// Without the lock: it calls functions of the user's.
  void tell(const pool_options& options, const starvation_report& report) const noexcept;

 private:
  const starving_pool& pool_;
  const starving_parts parts_;
  starvation_watch watch_;
  std::vector<std::uint64_t> begun_;  // items by worker: for watch_
  clock::time_point reported_at_{};
};

}  // namespace tandem::inline v0::detail
