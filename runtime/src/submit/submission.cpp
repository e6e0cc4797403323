// submission.cpp: how a pool takes a submission. Protocol submissions.
// SPDX-License-Identifier: MIT
#include <utility>

#include <tandem/detail/admission.hpp>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/rejected.hpp>

#include "pool/worker_pool_impl.hpp"
#include "runtime/fork_guard.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0 {

void worker_pool::admit(detail::joinable_root& block, int priority) {
  impl_->submit(block, priority);
}
bool worker_pool::prestart_core_thread() noexcept { return impl_->prestart_core_thread(); }
unsigned worker_pool::prestart_all_core_threads() noexcept {
  unsigned started = 0;
  while (impl_->prestart_core_thread()) ++started;
  return started;
}

worker_pool::impl::visit::visit(impl& pool) noexcept : pool_(pool.is_current() ? nullptr : &pool) {
  if (pool_ != nullptr) pool_->enter();
}
worker_pool::impl::visit::~visit() {
  if (pool_ != nullptr) pool_->leave();
}

void worker_pool::impl::enter() noexcept {
  posting_.fetch_add(1, std::memory_order_relaxed);  // parking/visit
  // driving/clock: what is counted and not posted yet is nothing that waits for ever.
  if (loop_ != nullptr) [[unlikely]]
    detail::hold_clock(owner_);
}
void worker_pool::impl::leave() noexcept {
  if (loop_ != nullptr) [[unlikely]]
    detail::release_clock(owner_);
  // parking/visit: the last access; pairs with stop()
  posting_.fetch_sub(1, std::memory_order_release);
}

void worker_pool::impl::submit(detail::joinable_root& block, int priority) {
  try {
    detail::refuse_if_forked(owner_, "worker_pool::submit");
  } catch (...) {
    block.forget();
    throw;
  }
  const visit here(*this);
  block.launch_unposted();  // submissions/count
  try {
    const admission answer = try_admit(block, priority);
    if (answer != admission::entered) saturate(block, priority, answer);
  } catch (...) {
    block.take_back();
    block.forget();
    throw;
  }
}

worker_pool::impl::admission worker_pool::impl::try_admit(detail::joinable_root& block,
                                                          int priority) {
  if (!life_.is_running()) return admission::closed;  // submissions/read_state
  const growth_order order = growth();
  const bool queue_first = order == growth_order::queue_first;
  if (queue_first && start_for(block, size())) return admission::entered;
  // Where the queue is unbounded it is quicker to leave the item there for whoever comes first.
  const bool by_hand = order == growth_order::threads_first || submissions_.is_bounded();
  if (by_hand && submissions_.empty() && give_by_hand(block, order)) return admission::entered;
  bool alone = false;
  admission answer = submissions_.offer(block, priority, alone);  // submissions/order
  while (answer == admission::full && by_hand && hand_oldest_to_idle()) {
    answer = submissions_.offer(block, priority, alone);
  }
  if (answer == admission::entered) announce_submission(alone);
  if (answer == admission::full && queue_first && start_for(block, workers_.most())) {
    return admission::entered;
  }
  return answer;
}

void worker_pool::impl::announce_submission(bool alone) noexcept {
  wake_one();
  if (alone) ask_attention();  // submissions/enter: else who takes the one before it asks
  if (loop_ != nullptr) loop_->notify();
}

bool worker_pool::impl::give_by_hand(job& item, growth_order order) noexcept {
  // Whoever searches has nothing in hand, and comes for what is queued: nobody has to be woken. A
  // rendezvous has no queue.
  const bool wait_for_searcher = order != growth_order::threads_first &&
                                 submissions_.has_places() &&
                                 searching_of(state_.load(std::memory_order_seq_cst)) != 0;
  if (!wait_for_searcher) {
    if (worker* const chosen = take_idle()) {
      chosen->handed = &item;  // published by the signal
      rouse(*chosen);
      return true;
    }
  }
  return order != growth_order::queue_first && start_for(item, workers_.most());
}

bool worker_pool::impl::hand_oldest_to_idle() noexcept {
  // What waits for somebody who searches already goes first; so the newest gets the place.
  if (!submissions_.has_places()) return false;
  worker* const chosen = take_idle();
  if (chosen == nullptr) return false;
  chosen->handed = submissions_.pop();  // published by the signal
  // Somebody else was quicker: then it is one more that looks.
  if (chosen->handed == nullptr) state_.fetch_add(one_searching, std::memory_order_seq_cst);
  rouse(*chosen);
  return true;
}

detail::worker* worker_pool::impl::take_idle() noexcept {
  // A look first: mostly there is none.
  if (room_of(state_.load(std::memory_order_seq_cst)) <= 0) return nullptr;
  const std::lock_guard lock(idle_lock_);
  if (stopping_ || idle_stack_.empty()) return nullptr;
  if (room_of(state_.load(std::memory_order_seq_cst)) <= 0) return nullptr;
  worker* const chosen = idle_stack_.back();
  idle_stack_.pop_back();
  // Busy, but not searching: it will not look, so whoever posts something now wakes another one.
  state_.fetch_sub(one_room, std::memory_order_seq_cst);
  return chosen;
}

job* worker_pool::impl::take_submission(worker& self) noexcept {
  job* const item = submissions_.pop();
  if (item != nullptr && submissions_.has_more()) {
    // submissions/enter. Those behind it have asked for nobody's attention.
    self.forks.attention.store(true, std::memory_order_relaxed);  // own thread reads it
  }
  return item;
}

bool worker_pool::impl::start_for(job& item, unsigned limit) noexcept {
  if (loop_ != nullptr) return false;
  // Relaxed, a look: under the lock it counts.
  if (threads_.load(std::memory_order_relaxed) >= limit) return false;
  const auto has_room = [this] {
    return growth() != growth_order::demand || room_of(state_.load(std::memory_order_seq_cst)) > 0;
  };
  if (!has_room()) return false;
  {
    const std::lock_guard lock(idle_lock_);
    if (stopping_ || !has_room()) return false;
    // Somebody searches: else that one would have been woken.
    if (growth() == growth_order::demand && !idle_stack_.empty()) return false;
    if (!start_thread(limit, &item)) return false;
  }
  if (auto* const watching = control()) watching->somebody_is_awake();
  return true;
}

bool worker_pool::impl::prestart_core_thread() noexcept {
  if (loop_ != nullptr || detail::is_forked(owner_) || !life_.is_running()) return false;
  {
    const std::lock_guard lock(idle_lock_);
    next_attempt_ = {};  // who asks for a thread wants it now
    if (stopping_ || !start_thread(size(), nullptr)) return false;
  }
  if (auto* const watching = control()) watching->somebody_is_awake();
  return true;
}

void worker_pool::impl::take_handed(worker& self) noexcept {
  job* const item = std::exchange(self.handed, nullptr);
  if (item == nullptr) return;
  self.tick = 0;  // so that it comes before what is queued
  push_fifo(self, item);
}

namespace detail {

tandem::runtime& owner_of_pool(const worker_pool& pool) noexcept { return *pool.owner(); }
executor& executor_of_pool(worker_pool& pool) noexcept { return pool; }

}  // namespace detail

bool worker_pool::impl::leave_queue(detail::joinable_root& block) noexcept {
  using leaving = detail::submission_queue::leaving;
  const leaving how = submissions_.leave(block);
  if (how == leaving::passed_on) announce_submission(true);
  return how != leaving::not_here;
}

bool worker_pool::impl::enter_or_wait(detail::submit_waiter& waiter) noexcept {
  const bool waits = submissions_.enter_or_wait(waiter);
  announce_submission(true);
  return waits;
}

}  // namespace tandem::inline v0
