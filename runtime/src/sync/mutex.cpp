// mutex.cpp: a mutex that is contended.
// SPDX-License-Identifier: MIT
#include <tandem/mutex.hpp>

namespace tandem::inline v0 {

using detail::lock_word;
using detail::waiter;

void mutex::unlock_slow() noexcept {
  const lock_word::word state = word_.lock();
  TANDEM_ASSERT((state & lock_word::one) != 0, "a mutex was unlocked that nobody holds");
  waiter* const next = waiting_.pop_front();  // waiting/grant: it holds the mutex now
  word_.unlock((next != nullptr ? lock_word::one : 0) |
               (waiting_.empty() ? 0 : lock_word::waiters));
  if (next != nullptr) next->finish();
}

bool mutex_awaiter::start(detail::promise_base& waiting) noexcept {
  if (room_.gave_way(waiting)) return true;
  waiter& self = room_.build(target_->word_, target_->waiting_);
  if (!self.begin(waiting)) return false;  // waiting/publish
  const lock_word::word state = target_->word_.lock();
  if (!self.may_queue()) {  // waiting/queue
    target_->word_.unlock(state);
    return self.give_up();
  }
  if ((state & lock_word::one) == 0) {  // then nobody waits either
    self.take();
    target_->word_.unlock(lock_word::one);
    return self.go_on();
  }
  target_->waiting_.push_back(self);
  target_->word_.unlock(state | lock_word::waiters);
  return true;
}

}  // namespace tandem::inline v0
