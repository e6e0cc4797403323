// ring_sleep.cpp: of all that come while an engine sleeps, one wakes it.
// SPDX-License-Identifier: MIT
#include "ring/ring_sleep.hpp"

#include <thread>

namespace tandem::inline v0::io {

void ring_sleep::announce(bool gathers) noexcept {
  if (gathers) gathering_.prepare();
  gathers_.store(gathers, std::memory_order_relaxed);  // published by asleep_
  // ring_sleep/announce. seq_cst: pairs with whoever posts, and with timer_service::arm.
  asleep_.store(true, std::memory_order_seq_cst);
}

void ring_sleep::end_wait() noexcept {
  // If this is not the wait any more for which asleep_ was set, another one ends in vain.
  if (gathers_.load(std::memory_order_relaxed)) {  // published by asleep_
    gathering_.end();
  } else {
    backend_->wake();
  }
}

void ring_sleep::wake_for_request() noexcept {
  if (asleep_.load(std::memory_order_seq_cst) && gathers_.load(std::memory_order_relaxed)) return;
  wake();
}

void ring_sleep::wake() noexcept { (void)end_sleep(false); }
bool ring_sleep::wake_to_search() noexcept { return end_sleep(true); }

bool ring_sleep::end_sleep(bool to_search) noexcept {
  // ring_sleep/wake. Of all that come while it sleeps one wakes it.
  if (!asleep_.load(std::memory_order_seq_cst)) return false;
  waking_.fetch_add(1, std::memory_order_seq_cst);  // pairs with wait_for_wakers()
  const bool won = asleep_.exchange(false, std::memory_order_seq_cst);
  if (won) {
    // stealable/call: published by the wake
    if (to_search) called_.store(true, std::memory_order_relaxed);
    wakes_.fetch_add(1, std::memory_order_relaxed);
    end_wait();
  }
  waking_.fetch_sub(1, std::memory_order_release);
  return won;
}

void ring_sleep::wait_for_wakers() const noexcept {
  while (waking_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
}

}  // namespace tandem::inline v0::io
