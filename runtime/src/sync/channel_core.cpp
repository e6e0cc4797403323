// channel_core.cpp: the end of a channel.
// SPDX-License-Identifier: MIT
#include <tandem/detail/channel_core.hpp>

namespace tandem::inline v0::detail {

constinit const wait_kind waits_for_room(&waiter::on_stop, "a channel", wait_end::anybody,
                                         [](const stop_waiter& wait, wait_note& note) noexcept {
                                           note.verb = "waits to send into";
                                           channel_waiter::describe(wait, note);
                                         });
constinit const wait_kind waits_for_value(&waiter::on_stop, "a channel", wait_end::anybody,
                                          [](const stop_waiter& wait, wait_note& note) noexcept {
                                            note.verb = "waits to receive from";
                                            channel_waiter::describe(wait, note);
                                          });

channel_waiter::channel_waiter(const wait_kind& kind, channel_base& target,
                               wait_list& list) noexcept
    : waiter(kind, target.word_, list), of(&target) {}

void channel_waiter::describe(const stop_waiter& wait, wait_note& note) noexcept {
  const channel_base& of = *static_cast<const channel_waiter&>(wait).of;
  note.object = &of;
  const lock_word::word state = of.word_.lock();
  const std::size_t size = of.size_;
  const bool sends = &wait.kind() == &waits_for_room;
  note.task = sends ? of.last_receiver_ : of.last_sender_;
  note.task_role = sends ? "last received from by" : "last sent to by";
  of.word_.unlock(state);
  note.say("that %s (%zu of %zu)%s",
           size == 0 ? "is empty" : (size == of.capacity() ? "is full" : "holds some"), size,
           of.capacity(), of.is_closed() ? ", closed" : "");
}

void channel_base::close() noexcept {
  const lock_word::word state = word_.lock();
  taken_list ended;
  for (wait_list* list : {&receivers_, &senders_}) {
    while (waiter* const each = list->pop_front()) {  // waiting/grant
      static_cast<channel_waiter*>(each)->closed = true;
      ended.push_back(each);
    }
  }
  word_.unlock(state | lock_word::one);  // waiting/unlock
  ended.wake();
}

std::size_t channel_base::size() const noexcept {
  const lock_word::word state = word_.lock();
  const std::size_t size = size_;
  word_.unlock(state);
  return size;
}

}  // namespace tandem::inline v0::detail
