// idle_workers.cpp: the stack of those that sleep.
// SPDX-License-Identifier: MIT
#include "crew/idle_workers.hpp"

#include <algorithm>
#include <iterator>

namespace tandem::inline v0::detail {

void idle_workers::make_room(std::size_t count) {
  stack_.reserve(std::max(stack_.capacity(), count));
}

worker& idle_workers::take_youngest() noexcept {
  // Relaxed: it came here under the lock, and only whoever takes it off changes more than that.
  if (stack_.size() > 1 &&
      stack_.back()->signal.load(std::memory_order_relaxed) == worker::in_port) {
    std::iter_swap(stack_.end() - 1, stack_.end() - 2);
  }
  worker& taken = *stack_.back();
  stack_.pop_back();
  return taken;
}

bool idle_workers::take(worker& self) noexcept {
  const auto place = std::find(stack_.rbegin(), stack_.rend(), &self);
  if (place == stack_.rend()) return false;
  stack_.erase(std::next(place).base());
  return true;
}

worker* idle_workers::take_oldest(bool also_in_port) noexcept {
  const auto oldest = std::find_if(stack_.begin(), stack_.end(), [also_in_port](worker* each) {
    return also_in_port || each->lies_in.load(std::memory_order_relaxed) == nullptr;
  });
  if (oldest == stack_.end()) return nullptr;
  worker* const taken = *oldest;
  stack_.erase(oldest);
  return taken;
}

void idle_workers::wake_all() noexcept {
  for (worker* const each : stack_) each->tell(worker::notified);
  stack_.clear();  // its room stays, for those that come back (submissions/reopen)
}

void idle_workers::look_again() noexcept {
  // Nobody else takes one of them off the stack meanwhile.
  for (worker* const each : stack_) each->tell(worker::look_again);
}

}  // namespace tandem::inline v0::detail
