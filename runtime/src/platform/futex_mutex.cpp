// futex_mutex.cpp: waiting for a lock that somebody else has.
// SPDX-License-Identifier: MIT
#include <tandem/detail/futex_mutex.hpp>

#include "platform/futex.hpp"
#include "platform/spin_pause.hpp"

namespace tandem::inline v0 {

void detail::futex_mutex::lock_slow() noexcept {
  // Critical sections are short: the owner is usually gone before a sleep would pay.
  for (int i = 0; i < 64; ++i) {
    platform::spin_pause();
    if (state_.load(std::memory_order_relaxed) == 0 && try_lock()) return;
  }
  while (state_.exchange(2, std::memory_order_acquire) != 0) platform::wait_on(state_, 2);
}

void detail::futex_mutex::wake_one() noexcept { platform::wake_one(state_); }

}  // namespace tandem::inline v0
