// broadcast.cpp: the receivers of a broadcast that wait, lag, or hear of its end.
// SPDX-License-Identifier: MIT
#include <tandem/broadcast.hpp>

namespace tandem::inline v0::detail {

namespace {

constexpr wait_kind waits_for_broadcast(&waiter::on_stop, "a broadcast", wait_end::anybody,
                                        [](const stop_waiter& wait, wait_note& note) noexcept {
                                          const broadcast_base& of =
                                              *static_cast<const broadcast_waiter&>(wait).of;
                                          note.verb = "waits to receive from";
                                          note.object = &of;
                                          note.task = of.last_sender();
                                          note.task_role = "last sent to by";
                                          note.say("to which %llu were sent so far%s",
                                                   static_cast<unsigned long long>(of.sent()),
                                                   of.is_closed() ? ", closed" : "");
                                        });

}  // namespace

broadcast_waiter::broadcast_waiter(broadcast_base& target) noexcept
    : waiter(waits_for_broadcast, target.word_, target.waiting_), of(&target) {}

std::size_t broadcast_base::waiting() noexcept {
  const lock_word::word state = word_.lock();
  const std::size_t count = waiting_.count();
  word_.unlock(state);
  return count;
}

void broadcast_base::close() noexcept {
  const lock_word::word state = word_.lock();
  waiter* const all = waiting_.take_all();               // waiting/grant
  word_.unlock((state & ~lock_word::waiters) | closed);  // waiting/unlock
  taken_list::wake(all);
}

void broadcast_base::end_send(lock_word::word state) noexcept {
  const std::uint64_t task = environment::task_id(this_thread().env);
  // Relaxed: for looks, which want to know about now.
  if (last_sender() != task) last_task_.store(task, std::memory_order_relaxed);
  // Release: whoever joins after this send has seen what happened before.
  tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  tail_slot_ = tail_slot_ + 1 == capacity_ ? 0 : tail_slot_ + 1;
  waiter* const all = waiting_.empty() ? nullptr : waiting_.take_all();  // waiting/grant
  word_.unlock(state & ~lock_word::waiters);                             // waiting/unlock
  if (all != nullptr) taken_list::wake(all);
}

bool broadcast_base::start(waiter& self, promise_base& waiting,
                           const broadcast_place& at) noexcept {
  if (!self.begin(waiting)) return false;  // waiting/publish
  const lock_word::word state = word_.lock();
  if (!self.may_queue()) {  // waiting/queue
    word_.unlock(state);
    return self.give_up();
  }
  if (!must_wait(state, at)) {
    self.take();
    word_.unlock(state);
    return self.go_on();
  }
  waiting_.push_back(self);
  word_.unlock(state | lock_word::waiters);
  return true;
}

bool broadcast_base::arm(waiter& self, const broadcast_place& at) noexcept {
  const lock_word::word state = word_.lock();
  if (!must_wait(state, at)) {
    self.take();
    word_.unlock(state);
    return true;
  }
  waiting_.enter(self);
  word_.unlock(state | lock_word::waiters);
  return false;
}

std::uint64_t broadcast_base::catch_up(broadcast_place& at) noexcept {
  const lock_word::word state = word_.lock();  // so that no send is half done
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  word_.unlock(state);
  const std::uint64_t behind = tail - at.next;
  if (behind <= capacity_) return 0;
  at = place_of(tail - capacity_);
  return behind - capacity_;
}

}  // namespace tandem::inline v0::detail
