// waker.hpp: who is woken, or started, when there is something to do. Protocol parking: README.md beside this.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/job.hpp>

#include "crew/awake_watch.hpp"
#include "crew/busy_word.hpp"
#include "crew/crew.hpp"
#include "crew/idle_workers.hpp"
#include "crew/worker_set.hpp"

namespace tandem::inline v0::detail {

class waker {
 public:
  waker(const pool_limits& limits, busy_word& word, idle_workers& idle, const worker_set& workers,
        crew& threads, const awake_watch_slot& watch) noexcept
      : limits_(limits),
        word_(word),
        idle_(idle),
        workers_(workers),
        threads_(threads),
        watch_(watch) {}
  waker(const waker&) = delete;
  waker& operator=(const waker&) = delete;

  /// parking/wake. Wakes (or starts) one worker to search, unless somebody searches already.
  void wake_one() noexcept {
    // seq_cst: pairs with the sleeper's count (parking/announce); the item was published seq_cst
    // before.
    if (word_.now().needs_a_searcher()) wake_a_searcher();
  }
  /// Whoever is in a long recursion has to look at the other queues, if nobody idle comes for them.
  void ask_attention() noexcept;

  /// submissions/hand_over. A parked worker begins with the item.
  /// @returns  false if nobody is parked
  bool hand_to_idle(job& item) noexcept;
  /// submissions/oldest_by_hand. A parked worker begins with what `take` has for it, or else
  /// searches. @returns false if nobody is parked
  template <class Take>
  bool wake_for(const Take& take) noexcept {
    worker* const chosen = take_idle();
    if (chosen == nullptr) return false;
    chosen->handed = take();  // published by the signal
    if (chosen->handed == nullptr) word_.searches_after_all();
    rouse(*chosen);
    return true;
  }
  /// submissions/hand_over. Starts a thread for the item. @returns false if there are `limit` or no
  /// room
  bool start_for(job& item, unsigned limit) noexcept;
  /// Starts one that searches, if there are fewer than `limit`; not soon after a failure.
  bool start_searcher(unsigned limit) noexcept;
  /// Likewise, if there are fewer than the core; also soon after a failure: whoever asks for a
  /// thread hears now whether there is one.
  bool start_core_thread() noexcept;

  /// ports/get_up. A parked worker has found something itself: off the idle stack, it searches.
  /// @returns  false if there is no room, or it was taken off by somebody else
  bool get_up(worker& self) noexcept;

  std::uint64_t wakes() const noexcept { return wakes_.load(std::memory_order_relaxed); }

 private:
  void wake_a_searcher() noexcept;
  /// Under the lock. Whether one more has been started.
  bool start_below(unsigned limit) noexcept {
    return !threads_.is_closed() && threads_.start_one(limit, nullptr);
  }
  /// Off the idle stack, and counted as busy, not searching: so that it can be handed something.
  /// Null: nobody is parked, or may work.
  worker* take_idle() noexcept;
  /// The worker was taken off the idle stack, and counted.
  void rouse(worker& chosen) noexcept;
  void tell_watch() noexcept {
    if (awake_watch* const watching = watch_.get()) watching->somebody_is_awake();
  }

  const pool_limits& limits_;
  busy_word& word_;
  idle_workers& idle_;
  const worker_set& workers_;
  crew& threads_;
  const awake_watch_slot& watch_;
  std::atomic<std::uint64_t> wakes_{0};
};

}  // namespace tandem::inline v0::detail
