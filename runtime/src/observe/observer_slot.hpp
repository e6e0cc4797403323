// observer_slot.hpp: where a runtime keeps its task_observer, which may come later than the runtime.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace tandem::inline v0::detail {

class task_observer;

/// records/make. Empty: no hooks, and no task is timed. Filled by set-up, or once by a change of
/// the pool (changes/timing); an observer stays until the runtime's end, since records point to it.
class observer_slot {
 public:
  explicit observer_slot(std::unique_ptr<task_observer> first) noexcept;
  observer_slot(const observer_slot&) = delete;
  observer_slot& operator=(const observer_slot&) = delete;
  ~observer_slot();

  task_observer* get() const noexcept {
    return now_.load(std::memory_order_acquire);  // pairs with fill()
  }
  task_observer* operator->() const noexcept { return get(); }
  friend bool operator==(const observer_slot& slot, std::nullptr_t) noexcept {
    return slot.get() == nullptr;
  }

  /// pre: it is empty, and nobody else fills it
  void fill(std::unique_ptr<task_observer> made) noexcept;

 private:
  std::unique_ptr<task_observer> own_;  // written before now_
  std::atomic<task_observer*> now_;
};

}  // namespace tandem::inline v0::detail
