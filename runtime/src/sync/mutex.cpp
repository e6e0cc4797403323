// mutex.cpp: a mutex that is contended.
// SPDX-License-Identifier: MIT
#include <tandem/mutex.hpp>

#include "sync/suspend.hpp"

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
  // Nobody holds it: then nobody waits either.
  return detail::suspend(
      room_, target_->word_, target_->waiting_, waiting,
      [](lock_word::word state) { return (state & lock_word::one) == 0; },
      [](lock_word::word) { return lock_word::one; });
}

}  // namespace tandem::inline v0
