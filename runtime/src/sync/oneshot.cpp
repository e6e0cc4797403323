// oneshot.cpp: the ends of a oneshot that wait for each other, or go.
// SPDX-License-Identifier: MIT
#include <tandem/oneshot.hpp>

#include "sync/suspend.hpp"

namespace tandem::inline v0 {

using detail::lock_word;
using detail::oneshot_base;
using detail::taken_list;
using detail::wait_kind;
using detail::wait_note;
using detail::waiter;

namespace {

constexpr wait_kind waits_for_outcome(
    &waiter::on_stop, "a oneshot", detail::wait_end::anybody,
    [](const stop_waiter& wait, wait_note& note) noexcept {
      note.verb = "waits to receive from";
      note.object = &static_cast<const waiter&>(wait).word();  // a block begins with its word
      note.say("to which nobody has sent yet");
    });
constexpr wait_kind waits_for_close(&waiter::on_stop, "a oneshot", detail::wait_end::anybody,
                                    [](const stop_waiter& wait, wait_note& note) noexcept {
                                      note.verb = "waits until nobody receives from";
                                      note.object = &static_cast<const waiter&>(wait).word();
                                    });

}  // namespace

void oneshot_base::close() noexcept {
  const lock_word::word state = word_.lock();
  taken_list ended;
  for (wait_list* list : {&receiving_, &closing_}) {
    while (waiter* const each = list->pop_front()) ended.push_back(each);  // waiting/grant
  }
  word_.unlock((state & ~lock_word::waiters) | closed);
  ended.wake();
}

bool oneshot_base::leave_as_sender() noexcept {
  // Nobody else has the block any more.
  if ((word_.load() & receiver_gone) != 0) return true;
  const lock_word::word state = word_.lock();
  expect_nobody_waits_for_close();
  if ((state & receiver_gone) != 0) {
    word_.unlock(state);
    return true;
  }
  waiter* const waits = receiving_.take_all();                // waiting/grant
  word_.unlock((state & ~lock_word::waiters) | sender_gone);  // waiting/unlock
  taken_list::wake(waits);
  return false;
}

bool oneshot_base::leave_as_receiver() noexcept {
  if ((word_.load() & sender_gone) != 0) return true;
  const lock_word::word state = word_.lock();
  TANDEM_ASSERT(receiving_.empty(), "the receiver of a oneshot went while its receive() waited");
  if ((state & sender_gone) != 0) {
    word_.unlock(state);
    return true;
  }
  waiter* const waits = closing_.take_all();                             // waiting/grant
  word_.unlock((state & ~lock_word::waiters) | closed | receiver_gone);  // waiting/unlock
  taken_list::wake(waits);
  return false;
}

std::error_code oneshot_base::why_none() const noexcept {
  const lock_word::word state = word_.load();
  if (!is_taken_ && (state & closed) == 0) return errc::sender_dropped;
  return errc::channel_closed;
}

namespace {
constexpr auto has_ended = [](lock_word::word state) {
  return (state & (oneshot_base::has_outcome | oneshot_base::sender_gone | oneshot_base::closed)) !=
         0;
};
constexpr auto has_closed = [](lock_word::word state) {
  return (state & oneshot_base::closed) != 0;
};
}  // namespace

bool detail::oneshot_receive_wait::start(promise_base& waiting) noexcept {
  return suspend(room_, waits_for_outcome, base_->word_, base_->receiving_, waiting, has_ended,
                 same_word);
}
bool detail::oneshot_receive_wait::select_arm(select_place& as) noexcept {
  return arm(room_, as, waits_for_outcome, base_->word_, base_->receiving_, has_ended, same_word);
}

bool oneshot_closed_awaiter::start(detail::promise_base& waiting) noexcept {
  return detail::suspend(room_, waits_for_close, target_->word_, target_->closing_, waiting,
                         has_closed, detail::same_word);
}
bool oneshot_closed_awaiter::select_arm(detail::select_place& as) noexcept {
  return detail::arm(room_, as, waits_for_close, target_->word_, target_->closing_, has_closed,
                     detail::same_word);
}

}  // namespace tandem::inline v0
