// event.cpp: setting an event and waiting for it.
// SPDX-License-Identifier: MIT
#include <tandem/event.hpp>

#include "sync/suspend.hpp"

namespace tandem::inline v0 {

using detail::lock_word;
using detail::waiter;

namespace {

constexpr detail::wait_kind waits_for_event(
    &waiter::on_stop, "an event", detail::wait_end::anybody,
    [](const stop_waiter& wait, detail::wait_note& note) noexcept {
      note.object = &static_cast<const waiter&>(wait).word();  // an event begins with its word
    });

}  // namespace

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

namespace {
constexpr auto is_set = [](lock_word::word state) { return (state & lock_word::one) != 0; };
constexpr auto unchanged = [](lock_word::word state) { return state; };
}  // namespace

bool event_awaiter::start(detail::promise_base& waiting) noexcept {
  return detail::suspend(room_, waits_for_event, target_->word_, target_->waiting_, waiting, is_set,
                         unchanged);
}

bool event_awaiter::select_arm(detail::select_place& as) noexcept {
  return detail::arm(room_, as, waits_for_event, target_->word_, target_->waiting_, is_set,
                     unchanged);
}

}  // namespace tandem::inline v0
