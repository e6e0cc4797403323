// event.cpp: setting an event and waiting for it.
// SPDX-License-Identifier: MIT
#include <tandem/event.hpp>

namespace tandem::inline v0 {

using detail::lock_word;
using detail::waiter;

void event::set() noexcept {
  lock_word::word seen = word_.load();
  while ((seen & (lock_word::locked | lock_word::waiters)) == 0) {
    if (word_.change(seen, lock_word::one)) return;
  }
  (void)word_.lock();
  waiter* const all = waiting_.take_all();  // waiting/grant
  word_.unlock(lock_word::one);             // waiting/unlock: from here on the event may be gone
  detail::taken_list::wake(all);
}

void event::reset() noexcept {
  lock_word::word seen = word_.load();
  while ((seen & lock_word::locked) == 0) {
    if (word_.change(seen, seen & ~lock_word::one)) return;
  }
  const lock_word::word state = word_.lock();
  word_.unlock(state & ~lock_word::one);
}

bool event_awaiter::start(detail::promise_base& waiting) noexcept {
  if (room_.gave_way(waiting)) return true;
  waiter& self = room_.build(target_->word_, target_->waiting_);
  if (!self.begin(waiting)) return false;  // waiting/publish
  const lock_word::word state = target_->word_.lock();
  if (!self.may_queue()) {  // waiting/queue
    target_->word_.unlock(state);
    return self.give_up();
  }
  if ((state & lock_word::one) != 0) {
    self.take();
    target_->word_.unlock(state);
    return self.go_on();
  }
  target_->waiting_.push_back(self);
  target_->word_.unlock(state | lock_word::waiters);
  return true;
}

}  // namespace tandem::inline v0
