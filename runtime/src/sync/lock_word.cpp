// lock_word.cpp: waiting for the lock that a word is.
// SPDX-License-Identifier: MIT
#include <tandem/detail/lock_word.hpp>

#include "platform/futex.hpp"
#include "platform/spin_pause.hpp"

namespace tandem::inline v0::detail {

lock_word::word lock_word::lock_slow() noexcept {
  // Critical sections are short: the owner is usually gone before a sleep would pay.
  for (int i = 0; i < 64; ++i) {
    word seen = state_.load(std::memory_order_relaxed);  // the CAS decides
    if ((seen & locked) == 0 &&
        state_.compare_exchange_weak(seen, seen | locked, std::memory_order_acquire)) {
      return seen & ~sleepers;
    }
    platform::spin_pause();
  }
  word seen = state_.load(std::memory_order_relaxed);
  while (true) {
    if ((seen & locked) == 0) {
      // Others may sleep, too: the bit makes our unlock wake one of them.
      if (state_.compare_exchange_weak(seen, seen | locked | sleepers, std::memory_order_acquire)) {
        return seen & ~sleepers;
      }
      continue;
    }
    if ((seen & sleepers) == 0 &&
        !state_.compare_exchange_weak(seen, seen | sleepers, std::memory_order_relaxed)) {
      continue;  // relaxed: only the owner's unlock looks at the bit, by an exchange
    }
    platform::wait_on(state_, seen | sleepers);
    seen = state_.load(std::memory_order_relaxed);
  }
}

void lock_word::wake_sleeper() noexcept { platform::wake_one(state_); }

}  // namespace tandem::inline v0::detail
