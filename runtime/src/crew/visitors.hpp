// visitors.hpp: threads that are none of the pool's, inside a call that may hand something over. parking/visit.
// SPDX-License-Identifier: MIT
//
// What they hand over may end the runtime before they have left: stopping waits until all are gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/worker_pool.hpp>

#include "crew/worker.hpp"

namespace tandem::inline v0::detail {

class visitors {
 public:
  /// @param clock_of  the runtime whose clock stands still meanwhile; null: it has threads
  explicit visitors(tandem::runtime* clock_of) noexcept : clock_of_(clock_of) {}
  visitors(const visitors&) = delete;
  visitors& operator=(const visitors&) = delete;

  void enter() noexcept {
    inside_.fetch_add(1, std::memory_order_relaxed);  // published by what is handed over
    // driving/clock: what is counted and not posted yet is nothing that waits for ever.
    if (clock_of_ != nullptr) [[unlikely]]
      hold_clock(*clock_of_);
  }
  void leave() noexcept {
    if (clock_of_ != nullptr) [[unlikely]]
      release_clock(*clock_of_);
    inside_.fetch_sub(1, std::memory_order_release);  // the last access; pairs with wait()
  }
  /// As enter() and leave(), where nothing is counted before it is posted.
  void begin_post() noexcept { inside_.fetch_add(1, std::memory_order_relaxed); }
  void end_post() noexcept { inside_.fetch_sub(1, std::memory_order_release); }
  /// Until all have left; nobody comes any more.
  void wait() const noexcept {
    while (inside_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

 private:
  tandem::runtime* const clock_of_;
  alignas(64) std::atomic<std::uint32_t> inside_{0};
};

/// While it lives the calling thread is a visitor, if it is none of the pool's workers.
class visit {
 public:
  visit(const worker_pool::impl& pool, visitors& all) noexcept
      : all_(current_worker_of(pool) != nullptr ? nullptr : &all) {
    if (all_ != nullptr) all_->enter();
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  ~visit() {
    if (all_ != nullptr) all_->leave();
  }

 private:
  visitors* const all_;  // null: one of its workers
};

}  // namespace tandem::inline v0::detail
