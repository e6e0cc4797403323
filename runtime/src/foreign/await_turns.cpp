// await_turns.cpp: the queue of those that wait for their turn. Protocol turns: README.md beside this.
// SPDX-License-Identifier: MIT
#include <tandem/detail/await_turns.hpp>

namespace tandem::inline v0::detail {

bool await_turns::enter(item& waiting) noexcept {
  void* seen = word_.load(std::memory_order_relaxed);  // the exchanges look again
  while (true) {
    if (seen == nullptr) {
      // turns/enter. acquire: pairs with leave().
      if (word_.compare_exchange_weak(seen, busy_mark(), std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return true;
      }
      continue;
    }
    waiting.next_ = seen == busy_mark() ? nullptr : static_cast<item*>(seen);
    // release: whoever passes the turn on reads the item.
    if (word_.compare_exchange_weak(seen, &waiting, std::memory_order_release,
                                    std::memory_order_relaxed)) {
      return false;
    }
  }
}

void await_turns::pass_on() noexcept {
  if (oldest_ == nullptr) {
    // turns/leave. Acquire: pairs with enter().
    auto* newest = static_cast<item*>(word_.exchange(busy_mark(), std::memory_order_acquire));
    while (newest != nullptr) {
      item* const older = std::exchange(newest->next_, oldest_);
      oldest_ = std::exchange(newest, older);
    }
  }
  item* const next = oldest_;
  oldest_ = std::exchange(next->next_, nullptr);
  next->go_(*next);
}

}  // namespace tandem::inline v0::detail
