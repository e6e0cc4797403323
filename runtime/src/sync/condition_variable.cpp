// condition_variable.cpp: waiting without the mutex, and taking it again.
// SPDX-License-Identifier: MIT
#include <tandem/condition_variable.hpp>

#include <tandem/shielded.hpp>

namespace tandem::inline v0 {

using detail::lock_word;
using detail::waiter;

namespace {

constexpr detail::wait_kind waits_for_notification(
    &waiter::on_stop, "a condition_variable", detail::wait_end::anybody,
    [](const stop_waiter& wait, detail::wait_note& note) noexcept {
      note.object = &static_cast<const waiter&>(wait).word();  // it begins with its word
    });

}  // namespace

void condition_variable::notify_one_slow() noexcept {
  (void)word_.lock();
  waiter* const next = waiting_.pop_front();  // waiting/grant
  word_.unlock(waiting_.empty() ? 0 : lock_word::waiters);
  if (next != nullptr) next->finish();
}

void condition_variable::notify_all_slow() noexcept {
  (void)word_.lock();
  waiter* const all = waiting_.take_all();  // waiting/grant
  word_.unlock(0);
  detail::taken_list::wake(all);
}

bool condition_awaiter::start(detail::promise_base& waiting) noexcept {
  waiter& self = room_.build(waits_for_notification, target_->word_, target_->waiting_);
  if (!self.begin(waiting)) return false;  // waiting/publish
  lock_word& word = target_->word_;
  const lock_word::word state = word.lock();
  if (!self.may_queue()) {  // waiting/queue
    word.unlock(state);
    return self.give_up();
  }
  // conditions/release. From the unlock on its task may go on elsewhere: it takes the mutex first,
  // so that one stays until it has been given up here.
  has_released_ = true;
  mutex& held = *held_;
  target_->waiting_.push_back(self);
  word.unlock(state | lock_word::waiters);
  held.unlock();
  return true;
}

task<void> condition_variable::wait(mutex& held) {
  // Made before anything is given up: whether there is memory does not decide who holds the mutex.
  auto again = shielded(held.lock());
  condition_awaiter notified(*this, held);
  co_await detail::wait_for(notified);
  if (notified.has_released() && !held.try_lock()) {  // conditions/take_again
    co_await detail::wait_for(again);
    again.await_resume();
  }
  co_await detail::pass_on(notified.await_failure());
}

}  // namespace tandem::inline v0
