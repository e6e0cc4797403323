// semaphore.cpp: handing permits to those that wait, in their order.
// SPDX-License-Identifier: MIT
#include <tandem/semaphore.hpp>

namespace tandem::inline v0 {

using detail::lock_word;
using detail::semaphore_waiter;
using detail::taken_list;
using detail::waiter;

namespace {

constexpr detail::wait_kind waits_for_permits(
    &waiter::on_stop, "a semaphore", detail::wait_end::anybody,
    [](const stop_waiter& wait, detail::wait_note& note) noexcept {
      const auto& self = static_cast<const semaphore_waiter&>(wait);
      note.object = &self.word();  // a semaphore begins with its word
      note.say("for %u of its permits, of which %u are free", self.wanted() / lock_word::one,
               self.word().load() / lock_word::one);
    });

}  // namespace

bool semaphore::try_acquire_slow(lock_word::word wanted) noexcept {
  const lock_word::word state = word_.lock();
  const bool got = state >= wanted && waiting_.front() == nullptr;
  word_.unlock(got ? state - wanted : state);
  return got;
}

void semaphore::release_slow(std::size_t permits) noexcept {
  lock_word::word free = word_.lock() & lock_word::value_mask;
  TANDEM_ASSERT(permits <= max && free / lock_word::one + permits <= max,
                "a semaphore was given back more than semaphore::max permits");
  free += static_cast<lock_word::word>(permits) * lock_word::one;
  taken_list granted;
  while (waiter* const oldest = waiting_.front()) {
    const lock_word::word wanted = static_cast<semaphore_waiter*>(oldest)->wanted();
    if (wanted > free) break;               // nobody overtakes it
    if (!waiting_.take(*oldest)) continue;  // waiting/grant
    free -= wanted;
    granted.push_back(oldest);
  }
  word_.unlock(free | (waiting_.empty() ? 0 : lock_word::waiters));
  granted.wake();
}

bool semaphore_awaiter::start(detail::promise_base& waiting) noexcept {
  if (room_.gave_way(waiting)) return true;
  const auto wanted = static_cast<lock_word::word>(permits_) * lock_word::one;
  semaphore_waiter& self =
      room_.build(waits_for_permits, target_->word_, target_->waiting_, wanted);
  if (!self.begin(waiting)) return false;  // waiting/publish
  const lock_word::word state = target_->word_.lock();
  if (!self.may_queue()) {  // waiting/queue
    target_->word_.unlock(state);
    return self.give_up();
  }
  if (state >= wanted && target_->waiting_.front() == nullptr) {
    self.take();
    target_->word_.unlock(state - wanted);
    return self.go_on();
  }
  target_->waiting_.push_back(self);
  target_->word_.unlock(state | lock_word::waiters);
  return true;
}

bool semaphore_awaiter::select_arm(detail::select_place& as) noexcept {
  const auto wanted = static_cast<lock_word::word>(permits_) * lock_word::one;
  semaphore_waiter& self =
      room_.branch(as, waits_for_permits, target_->word_, target_->waiting_, wanted);
  const lock_word::word state = target_->word_.lock();
  if (state >= wanted && target_->waiting_.front() == nullptr) {
    self.take();
    target_->word_.unlock(state - wanted);
    return true;
  }
  target_->waiting_.enter(self);
  target_->word_.unlock(state | lock_word::waiters);
  return false;
}

void semaphore_awaiter::select_disarm() noexcept {
  if (room_.disarm()) target_->release(0);  // waiting/let_go
}

bool semaphore_awaiter::was_refused() noexcept {
  if (!room_.get().cancelled()) return false;
  // waiting/let_go. A large request that is gone may have held up smaller ones. Not from inside
  // on_stop: under the stop locks no other leaf can be ended.
  target_->release(0);
  return true;
}

}  // namespace tandem::inline v0
