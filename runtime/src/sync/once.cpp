// once.cpp: who has the turn, and to whom it goes.
// SPDX-License-Identifier: MIT
#include <tandem/once.hpp>

#include "sync/suspend.hpp"

namespace tandem::inline v0 {

using detail::lock_word;
using detail::waiter;

namespace {

constexpr detail::wait_kind waits_for_first(
    &waiter::on_stop, "a once or lazy", detail::wait_end::anybody,
    [](const stop_waiter& wait, detail::wait_note& note) noexcept {
      note.object = &static_cast<const waiter&>(wait).word();  // it begins with its word
      note.say("that another task is at");
    });

}  // namespace

void once::finish() noexcept {
  lock_word::word seen = running;
  if (word_.change(seen, done)) return;  // once/finish: it may be gone
  (void)word_.lock();
  waiter* const all = waiting_.take_all();  // waiting/grant
  word_.unlock(done);
  detail::taken_list::wake(all);
}

void once::pass_turn() noexcept {
  (void)word_.lock();
  waiter* const next = waiting_.pop_front();  // once/pass: it stays `running`
  word_.unlock((next != nullptr ? running : 0) | (waiting_.empty() ? 0 : lock_word::waiters));
  if (next != nullptr) next->finish();
}

bool detail::once_turn::start(promise_base& waiting) noexcept {
  return suspend(  // once/turn
      room_, waits_for_first, target_->word_, target_->waiting_, waiting,
      [](lock_word::word state) { return (state & lock_word::value_mask) != once::running; },
      [](lock_word::word state) {
        return (state & lock_word::value_mask) == 0 ? once::running : state;
      });
}

}  // namespace tandem::inline v0
