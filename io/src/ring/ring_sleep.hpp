// ring_sleep.hpp: how a completion thread's engine lies down, and how others get it up.
// SPDX-License-Identifier: MIT
//
// Three flags: asleep, how it sleeps (in its ring, or gathering for busy workers), and whether it
// was called to look for work. Protocol ring_sleep: README.md beside this.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <tandem/detail/gathering.hpp>
#include <tandem/detail/timer_service.hpp>

#include "backend/backend.hpp"

namespace tandem::inline v0::io {

class ring_sleep final : public tandem::detail::timer_driver {
 public:
  ring_sleep() noexcept = default;
  ring_sleep(const ring_sleep&) = delete;
  ring_sleep& operator=(const ring_sleep&) = delete;

  // Any thread.
  /// ring_sleep/announce
  bool asleep() const noexcept { return asleep_.load(std::memory_order_seq_cst); }
  /// ring_sleep/wake
  void wake() noexcept override;
  /// ring_sleep/gather. As wake(), for what may wait while it gathers.
  void wake_for_request() noexcept;
  /// stealable/call. @returns whether it slept, and is now awake to look for work
  bool wake_to_search() noexcept;
  /// How often a sleep was ended by somebody.
  std::uint64_t wakes() const noexcept { return wakes_.load(std::memory_order_relaxed); }

  // The owner.
  /// It sleeps in this one. Before anybody else sees the thread.
  void use(backend& ring) noexcept { backend_ = &ring; }
  /// ring_sleep/announce. The owner then looks once more for work, and sleeps only if there is
  /// none.
  void announce(bool gathers) noexcept;
  /// ring_sleep/gather. pre: announced so
  void gather(worker_pool& pool, std::chrono::steady_clock::time_point until) noexcept {
    gathering_.wait(pool, until);
  }
  void got_up() noexcept {
    asleep_.store(false, std::memory_order_seq_cst);  // stalls/look; a late wake costs one round
  }
  /// stealable/call. Whether it was woken to look for work, and has not looked yet.
  bool is_called() const noexcept {
    return called_.load(std::memory_order_relaxed);  // published by the wake
  }
  /// @returns  whether it was
  bool end_call() noexcept { return called_.exchange(false, std::memory_order_relaxed); }
  /// At its end. Whoever saw that it slept may be about to wake it: when this returns nobody is.
  void wait_for_wakers() const noexcept;

 private:
  bool end_sleep(bool to_search) noexcept;
  void end_wait() noexcept;

  std::atomic<bool> asleep_{false};       // ring_sleep/announce
  std::atomic<bool> gathers_{false};      // ring_sleep/gather: when asleep_, how
  std::atomic<bool> called_{false};       // stealable/call
  std::atomic<std::uint32_t> waking_{0};  // threads between asleep_ and the backend's wake
  std::atomic<std::uint64_t> wakes_{0};
  tandem::detail::gathering gathering_;
  backend* backend_ = nullptr;
};

}  // namespace tandem::inline v0::io
