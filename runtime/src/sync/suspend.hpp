// suspend.hpp: how an await enters the list of what it waits for, where one word says whether it has to.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/detail/wait_list.hpp>

namespace tandem::inline v0::detail {

/// `taken` of what is not used up by whoever has waited for it.
inline constexpr auto same_word = [](lock_word::word state) { return state; };

/// Steps waiting/publish and waiting/queue, for events, mutexes and counts.
///
/// @param kind      what the await is
/// @param has_come  of the word, under its lock: whether there is nothing to wait for any more
/// @param taken     of the same word: what it becomes then
/// @returns         what await_suspend returns
template <class HasCome, class Taken>
bool suspend(waiter_room<waiter>& room, const wait_kind& kind, lock_word& word, wait_list& list,
             promise_base& waiting, HasCome has_come, Taken taken) noexcept {
  if (room.gave_way(waiting)) return true;
  waiter& self = room.build(kind, word, list);
  if (!self.begin(waiting)) return false;  // waiting/publish
  const lock_word::word state = word.lock();
  if (!self.may_queue()) {  // waiting/queue
    word.unlock(state);
    return self.give_up();
  }
  if (has_come(state)) {
    self.take();
    word.unlock(taken(state));
    return self.go_on();
  }
  list.push_back(self);
  word.unlock(state | lock_word::waiters);
  return true;
}

/// selecting/arm, for the same. @returns whether it has come: then it was taken
template <class HasCome, class Taken>
bool arm(waiter_room<waiter>& room, select_place& as, const wait_kind& kind, lock_word& word,
         wait_list& list, HasCome has_come, Taken taken) noexcept {
  waiter& self = room.branch(as, kind, word, list);
  const lock_word::word state = word.lock();
  if (has_come(state)) {
    self.take();
    word.unlock(taken(state));
    return true;
  }
  list.enter(self);
  word.unlock(state | lock_word::waiters);
  return false;
}

}  // namespace tandem::inline v0::detail
