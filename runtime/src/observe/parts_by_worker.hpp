// parts_by_worker.hpp: something of each worker's own, made by its thread when it has the first time to count.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <vector>

#include "crew/worker.hpp"

namespace tandem::inline v0::detail {

/// By number of the worker. Made and written by the thread that has the number, read by any. Ends
/// after the workers have been joined.
template <class Part>
class parts_by_worker {
 public:
  parts_by_worker() : slots_(most_numbers) {}
  parts_by_worker(const parts_by_worker&) = delete;
  parts_by_worker& operator=(const parts_by_worker&) = delete;
  ~parts_by_worker() {
    for (const std::atomic<Part*>& each : slots_) delete each.load(std::memory_order_relaxed);
  }

  /// @returns  null where there is no memory for it, or no place for that number
  Part* of(const worker& on) noexcept {
    if (on.number >= slots_.size()) return nullptr;
    std::atomic<Part*>& slot = slots_[on.number];
    Part* there = slot.load(std::memory_order_acquire);  // of the thread that had the number
    if (there == nullptr) {
      there = new (std::nothrow) Part();
      slot.store(there, std::memory_order_release);  // pairs with for_each()
    }
    return there;
  }
  /// Calls `look` with each that is there.
  template <class Look>
  void for_each(Look look) const {
    for (const std::atomic<Part*>& each : slots_) {
      const Part* const there = each.load(std::memory_order_acquire);  // pairs with of()
      if (there != nullptr) look(*there);
    }
  }

 private:
  /// As many as the workers of the largest pool may have (crew/numbers).
  static constexpr std::size_t most_numbers = 2048;

  std::vector<std::atomic<Part*>> slots_;
};

}  // namespace tandem::inline v0::detail
