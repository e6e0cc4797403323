// idle_workers.cpp: the stack of those that sleep.
// SPDX-License-Identifier: MIT
#include "crew/idle_workers.hpp"

#include <algorithm>

namespace tandem::inline v0::detail {

void idle_workers::make_room(std::size_t count) {
  stack_.reserve(std::max(stack_.capacity(), count));
}

worker& idle_workers::take_youngest() noexcept {
  worker& taken = *stack_.back();
  stack_.pop_back();
  return taken;
}

worker& idle_workers::take_oldest() noexcept {
  worker& taken = *stack_.front();
  stack_.erase(stack_.begin());
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
