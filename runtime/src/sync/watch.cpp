// watch.cpp: the readers of a watch that wait for its next version.
// SPDX-License-Identifier: MIT
#include <tandem/watch.hpp>

namespace tandem::inline v0::detail {

namespace {

constexpr wait_kind waits_for_version(&waiter::on_stop, "a watch", wait_end::anybody,
                                      [](const stop_waiter& wait, wait_note& note) noexcept {
                                        const watch_base& of =
                                            *static_cast<const watch_waiter&>(wait).of;
                                        note.verb = "waits for a change of";
                                        note.object = &of;
                                        note.task = of.last_writer();
                                        note.task_role = "last set by";
                                        note.say("that is at version %llu%s",
                                                 static_cast<unsigned long long>(of.version()),
                                                 of.is_closed() ? ", closed" : "");
                                      });

}  // namespace

watch_waiter::watch_waiter(watch_base& target) noexcept
    : waiter(waits_for_version, target.word_, target.waiting_), of(&target) {}

std::size_t watch_base::waiting() noexcept {
  const lock_word::word state = word_.lock();
  const std::size_t count = waiting_.count();
  word_.unlock(state);
  return count;
}

void watch_base::close() noexcept {
  const lock_word::word state = word_.lock();
  waiter* const all = waiting_.take_all();               // waiting/grant
  word_.unlock((state & ~lock_word::waiters) | closed);  // waiting/unlock
  taken_list::wake(all);
}

void watch_base::end_set(lock_word::word state) noexcept {
  const std::uint64_t task = environment::task_id(this_thread().env);
  // Relaxed: for looks, which want to know about now.
  if (last_writer() != task) last_task_.store(task, std::memory_order_relaxed);
  waiter* const all = waiting_.empty() ? nullptr : waiting_.take_all();  // waiting/grant
  word_.unlock(state & ~lock_word::waiters);                             // waiting/unlock
  if (all != nullptr) taken_list::wake(all);
}

bool watch_base::start(waiter& self, promise_base& waiting, std::uint64_t seen) noexcept {
  if (!self.begin(waiting)) return false;  // waiting/publish
  const lock_word::word state = word_.lock();
  if (!self.may_queue()) {  // waiting/queue
    word_.unlock(state);
    return self.give_up();
  }
  if (version() != seen || (state & closed) != 0) {
    self.take();
    word_.unlock(state);
    return self.go_on();
  }
  waiting_.push_back(self);
  word_.unlock(state | lock_word::waiters);
  return true;
}

bool watch_base::arm(waiter& self, std::uint64_t seen) noexcept {
  const lock_word::word state = word_.lock();
  if (has_news(seen)) {  // under the lock
    self.take();
    word_.unlock(state);
    return true;
  }
  waiting_.enter(self);
  word_.unlock(state | lock_word::waiters);
  return false;
}

}  // namespace tandem::inline v0::detail
