// channel_core.cpp: the end of a channel.
// SPDX-License-Identifier: MIT
#include <tandem/detail/channel_core.hpp>

#include <atomic>
#include <chrono>

#include "platform/futex.hpp"
#include "platform/spin_pause.hpp"

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

void channel_waiter::describe(const stop_waiter& wait, wait_note& note) noexcept {
  const channel_base& of = *static_cast<const channel_waiter&>(wait).of;
  note.object = &of;
  const bool sends = &wait.kind() == &waits_for_room;
  const std::size_t size = of.size();
  note.task = sends ? of.last_receiver() : of.last_sender();
  note.task_role = sends ? "last received from by" : "last sent to by";
  note.say("that %s (%zu of %zu)%s",
           size == 0 ? "is empty" : (size == of.capacity() ? "is full" : "holds some"), size,
           of.capacity(), of.is_closed() ? ", closed" : "");
}

void channel_base::close() noexcept {
  const lock_word::word state = word_.lock();
  if (!is_closed(state)) close_tail();  // channels/close
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

std::size_t channel_base::count(const wait_list& list) noexcept {
  const lock_word::word state = word_.lock();
  const std::size_t found = list.count();
  word_.unlock(state);
  return found;
}

void channel_base::give_way(unsigned& rounds) noexcept {
  constexpr unsigned spins = 64;
  constexpr std::int64_t pause_ns = 20'000;
  if (rounds < spins) {
    ++rounds;
    platform::spin_pause();
    return;
  }
  // Its thread has lost its CPU between two instructions, so it is given this one.
  std::atomic<std::uint32_t> nobody_wakes{0};
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  (void)platform::wait_on(nobody_wakes, 0, now + pause_ns);
}

}  // namespace tandem::inline v0::detail
