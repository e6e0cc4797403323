// place_queue.hpp: a bounded number of places, and a FIFO of tasks that wait for one.
// SPDX-License-Identifier: MIT
//
// Locks: a stopper comes with stop locks held and takes the queue's; nobody who holds the queue's
// lock takes another one. A place that is given back goes to the oldest waiter without becoming
// free between.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tandem/config.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/leaf.hpp>

namespace tandem::inline v0::detail {

class place_queue;

/// The leaf of waiting for a place.
class TANDEM_API place_waiter : public leaf {
 protected:
  explicit place_waiter(place_queue& places) noexcept : leaf(waits_for_place), places_(&places) {}
  place_waiter(place_waiter&&) noexcept = default;
  ~place_waiter() = default;

  /// Charged to the await budget. @returns whether there was a place at once
  bool ready() noexcept;
  /// @returns  whether the task suspends; then it has a place, or is cancelled()
  bool start(promise_base& waiting) noexcept;

 private:
  friend class place_queue;
  enum class state : std::uint8_t { idle, queued, granted, stopped };
  static bool on_stop(stop_waiter& self) noexcept;
  static const wait_kind waits_for_place;

  place_queue* places_;
  // Under the queue's lock.
  place_waiter* previous_waiter_ = nullptr;
  place_waiter* next_waiter_ = nullptr;
  state state_ = state::idle;
};

class TANDEM_API place_queue {
 public:
  /// 0: no limit. A higher one lets waiters in at once.
  void set_limit(std::size_t limit) noexcept;
  /// Takes a place whether there is one or not. @returns false if there is no limit: nothing to
  /// give back
  bool take_anyway() noexcept;
  void give_back() noexcept;

 private:
  friend class place_waiter;
  bool take_locked() noexcept;
  place_waiter* pop_locked() noexcept;

  mutable futex_mutex lock_;           // guards all below
  std::atomic<std::size_t> limit_{0};  // written under the lock
  std::size_t taken_ = 0;
  place_waiter* oldest_ = nullptr;
  place_waiter* newest_ = nullptr;
};

}  // namespace tandem::inline v0::detail
