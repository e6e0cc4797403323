// mutex.cpp: a mutex that is contended.
// SPDX-License-Identifier: MIT
#include <tandem/mutex.hpp>

#include "sync/suspend.hpp"

namespace tandem::inline v0 {

using detail::lock_word;
using detail::waiter;

constinit const detail::wait_kind mutex::waits_for_mutex(
    &waiter::on_stop, "a mutex", detail::wait_end::task,
    [](const stop_waiter& wait, detail::wait_note& note) noexcept {
      static_assert(std::is_standard_layout_v<mutex>);
      const lock_word& word = static_cast<const waiter&>(wait).word();
      note.object = &word;
      note.task =
          reinterpret_cast<const mutex&>(word).owner_.load(std::memory_order_relaxed);  // NOLINT
    });

void mutex::unlock_slow() noexcept {
  const lock_word::word state = word_.lock();
  TANDEM_ASSERT((state & lock_word::one) != 0, "a mutex was unlocked that nobody holds");
  waiter* const next = waiting_.pop_front();  // waiting/grant: it holds the mutex now
  if (next != nullptr) note_owner(next->waiting().env);
  word_.unlock((next != nullptr ? lock_word::one : 0) |
               (waiting_.empty() ? 0 : lock_word::waiters));
  if (next != nullptr) next->finish();
}

bool mutex_awaiter::select_arm(detail::select_place& as) noexcept {
  return detail::arm(
      room_, as, mutex::waits_for_mutex, target_->word_, target_->waiting_,
      [](lock_word::word state) { return (state & lock_word::one) == 0; },
      [this](lock_word::word) {
        target_->note_owner(detail::this_thread().env);
        return lock_word::one;
      });
}

bool mutex_awaiter::start(detail::promise_base& waiting) noexcept {
  // Nobody holds it: then nobody waits either.
  return detail::suspend(
      room_, mutex::waits_for_mutex, target_->word_, target_->waiting_, waiting,
      [](lock_word::word state) { return (state & lock_word::one) == 0; },
      [this, &waiting](lock_word::word) {
        target_->note_owner(waiting.env);
        return lock_word::one;
      });
}

}  // namespace tandem::inline v0
