// sync_actors.hpp: what the stress tests of the synchronisation types share: dice, time limits, stops.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/errors.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

namespace tandem::test {

/// A generator for each task, cheap enough for a tight loop.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed | 1) {}
  std::uint64_t operator()(std::uint64_t sides) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 11) % sides;
  }

 private:
  std::uint64_t state_;
};

inline void spin(std::uint64_t turns) {
  for (std::uint64_t i = 0; i < turns; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Awaits `inner`, perhaps with a time limit. @returns whether it was not stopped
inline task<bool> perhaps_limited(task<void> inner, dice& random) {
  if (random(4) == 0) {
    const auto limit = std::chrono::microseconds(random(60));
    co_return (co_await tandem::as_result(tandem::with_timeout(limit, std::move(inner))))
        .has_value();
  }
  co_return (co_await tandem::as_result(std::move(inner))).has_value();
}

using handles = std::vector<tandem::join_handle<void>>;

/// Stops some of them at odd moments.
inline void stop_some(handles& all, std::mt19937_64& random) {
  for (auto& each : all) {
    if (random() % 3 != 0) continue;
    spin(random() % 20000);
    (void)each.cancel();
  }
}

inline void wait_for_all(handles& all) {
  for (auto& each : all) {
    try {
      each.wait();
    } catch (const tandem::operation_cancelled&) {  // NOLINT: it was stopped before it began
    }
  }
}

inline unsigned some_threads(std::mt19937_64& random) {
  return static_cast<unsigned>(1 + random() % 4);
}

}  // namespace tandem::test
