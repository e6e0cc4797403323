// task_count.cpp: the sum of all shards, and the wait until it is zero.
// SPDX-License-Identifier: MIT
#include "runtime/task_count.hpp"

#include <thread>

#include "platform/futex.hpp"

namespace tandem::inline v0::detail {

std::size_t task_count::live() const noexcept {
  // draining/sum, in this order.
  std::uint64_t ended = 0;
  std::uint64_t started = 0;
  for (const shard& each : shards_) ended += each.ended.load(std::memory_order_seq_cst);
  for (const shard& each : shards_) started += each.started.load(std::memory_order_seq_cst);
  return static_cast<std::size_t>(started - ended);
}

void task_count::wake_all() noexcept {
  signal_.fetch_add(1, std::memory_order_release);  // pairs with wait_for_none()
  platform::wake_all(signal_);
}

bool task_count::wait_for_none(std::int64_t deadline_ns) noexcept {
  const watch announced(*this);
  bool in_time = true;
  for (;;) {
    // draining/wait. Acquire: the end that has raised the signal is in the sum.
    const std::uint32_t seen = signal_.load(std::memory_order_acquire);
    if (live() == 0) return true;
    if (!in_time) return false;
    in_time = platform::wait_on(signal_, seen, deadline_ns);
  }
}

void task_count::watch_for_good() noexcept {
  // Relaxed: it only keeps the second caller from counting; the first one announces.
  if (for_good_.exchange(true, std::memory_order_relaxed)) return;
  watchers_.fetch_add(1, std::memory_order_seq_cst);
}

void task_count::wait_for_outside_ends() const noexcept {
  while (ending_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

}  // namespace tandem::inline v0::detail
