// shared_value.cpp: readers and a writer that meet at a value.
// SPDX-License-Identifier: MIT
#include <tandem/detail/shared_value.hpp>

#include <chrono>

#include "platform/futex.hpp"
#include "platform/spin_pause.hpp"

namespace tandem::inline v0::detail {

namespace {

/// Lets somebody finish who is between two instructions, or has lost its CPU there, and so is given
/// this one: a copy is short, so nobody tells us of its end.
void let_finish(unsigned round) noexcept {
  constexpr unsigned spins = 64;
  constexpr std::int64_t pause_ns = 20'000;
  if (round < spins) return platform::spin_pause();
  std::atomic<std::uint32_t> nobody_wakes{0};
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  (void)platform::wait_on(nobody_wakes, 0, now + pause_ns);
}

}  // namespace

shared_value::stamp shared_value::hold_slowly() noexcept {
  for (unsigned round = 0;; ++round) {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    if ((seen & writer) == 0 &&
        word_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return seen >> stamp_shift;
    }
    let_finish(round);
  }
}

void shared_value::wait_for_readers() noexcept {
  // Acquire: pairs with release(). What they have read is read before it is replaced.
  for (unsigned round = 0; (word_.load(std::memory_order_acquire) & readers) != 0; ++round) {
    let_finish(round);
  }
}

}  // namespace tandem::inline v0::detail
