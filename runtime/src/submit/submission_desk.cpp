// submission_desk.cpp: places are taken, hands are filled, and those who have to hear of it told.
// SPDX-License-Identifier: MIT
#include "submit/submission_desk.hpp"

#include <tandem/detail/forked.hpp>

#include "submit/saturation.hpp"

namespace tandem::inline v0::detail {

void submission_desk::submit(joinable_root& block, int priority) {
  try {
    refuse_if_forked(pool_.owner, "worker_pool::submit");
  } catch (...) {
    block.forget();
    throw;
  }
  const visit here = come_in();
  block.launch_unposted();  // submissions/count
  try {
    const answer how = try_admit(block, priority);
    if (how != answer::entered) pool_.saturated.refuse(block, priority, how);
  } catch (...) {
    block.take_back();
    block.forget();
    throw;
  }
}

submission_desk::answer submission_desk::try_admit(joinable_root& block, int priority) {
  if (!pool_.life.is_running()) return answer::closed;  // submissions/read_state
  // submissions/queue_first, submissions/threads_first, submissions/demand
  const growth_order order = pool_.limits.growth();
  const bool queue_first = order == growth_order::queue_first;
  if (queue_first && pool_.waking.start_for(block, pool_.limits.core())) return answer::entered;
  // Where the queue is unbounded it is quicker to leave the item there for whoever comes first.
  const bool by_hand = order == growth_order::threads_first || pool_.submissions.is_bounded();
  if (by_hand && pool_.submissions.empty() && give_by_hand(block, order)) return answer::entered;
  bool alone = false;
  answer how = pool_.submissions.offer(block, priority, alone);
  while (how == answer::full && by_hand && hand_oldest_to_idle()) {
    how = pool_.submissions.offer(block, priority, alone);
  }
  if (how == answer::entered) announce(alone);
  if (how == answer::full && queue_first && pool_.waking.start_for(block, pool_.workers.most())) {
    return answer::entered;
  }
  return how;
}

void submission_desk::announce(bool alone) noexcept {
  pool_.waking.wake_one();
  if (alone)
    pool_.waking.ask_attention();  // submissions/tell: else who takes the one before it asks
  if (pool_.loop != nullptr) pool_.loop->wake();
}

bool submission_desk::give_by_hand(job& item, growth_order order) noexcept {
  // submissions/searcher. Whoever searches has nothing in hand, and comes for what is queued:
  // nobody has to be woken. A rendezvous has no queue.
  const bool wait_for_searcher = order != growth_order::threads_first &&
                                 pool_.submissions.has_places() &&
                                 pool_.word.now().searching() != 0;
  if (!wait_for_searcher && pool_.waking.hand_to_idle(item)) return true;
  return order != growth_order::queue_first && pool_.waking.start_for(item, pool_.workers.most());
}

bool submission_desk::hand_oldest_to_idle() noexcept {
  // What waits for somebody who searches already goes first; so the newest gets the place. If
  // somebody else was quicker, it is one more that looks.
  return pool_.submissions.has_places() &&
         pool_.waking.wake_for([this] { return pool_.submissions.pop(); });
}

bool submission_desk::leave_queue(joinable_root& block) noexcept {
  using leaving = submission_queue::leaving;
  const leaving how = pool_.submissions.leave(block);
  if (how == leaving::passed_on) announce(true);
  return how != leaving::not_here;
}

bool submission_desk::enter_or_wait(submit_waiter& waiter) noexcept {
  const bool waits = pool_.submissions.enter_or_wait(waiter);
  announce(true);
  return waits;
}

rejection submission_desk::rejection_of(rejection_cause cause, const std::source_location& where,
                                        int priority) const {
  rejection what(cause, pool_.life.state(), where, pool_.name);
  what.threads = pool_.threads.threads();
  what.max_threads = pool_.workers.most();
  what.queued = pool_.submissions.size();
  what.waiting = pool_.submissions.waiting();
  what.priority = priority;
  return what;
}

}  // namespace tandem::inline v0::detail
