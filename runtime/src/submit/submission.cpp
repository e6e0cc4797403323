// submission.cpp: how a pool takes a submission (submissions), and waiting for it to do so.
// SPDX-License-Identifier: MIT
#include <new>
#include <utility>

#include <tandem/detail/admission.hpp>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/rejected.hpp>

#include "platform/platform.hpp"
#include "pool/worker_pool_impl.hpp"
#include "runtime/fork_guard.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0 {

namespace {

/// Not launched, or taken back: both references of the block go, and with them the task.
void release_block(detail::joinable_root& block) noexcept {
  block.release();
  block.release();
}

}  // namespace

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
    release_block(block);
    throw;
  }
  const visit here(*this);
  block.launch_unposted();  // submissions/count
  try {
    const admission answer = try_admit(block, priority);
    if (answer != admission::entered) saturate(block, priority, answer);
  } catch (...) {
    block.take_back();
    release_block(block);
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

tandem::runtime* admission::enter(executor& home) {
  tandem::runtime* visited = nullptr;
  // With threads nobody counts up what is still to come.
  tandem::runtime* const owner = home.owner();
  if (owner != nullptr && owner->implementation().loop != nullptr) [[unlikely]] {
    worker_pool::impl& pool = owner->workers().implementation();
    if (!pool.is_current()) {
      pool.enter();
      visited = owner;
    }
  }
  if (home.begin_task()) return visited;
  leave(visited);
  refuse(home);
}

void admission::leave(tandem::runtime* visited) noexcept {
  if (visited != nullptr) visited->workers().implementation().leave();
}

tandem::runtime& owner_of_pool(const worker_pool& pool) noexcept { return *pool.owner(); }
executor& executor_of_pool(worker_pool& pool) noexcept { return pool; }

promise_base* joinable_root::take_back_frame(stop_reason reason) noexcept {
  if (is_forked(owner())) return nullptr;  // it runs in the parent only
  promise_base* const frame = take_unstarted();
  if (frame != nullptr) leave_queue(reason);
  return frame;
}

void joinable_root::leave_queue(stop_reason reason) noexcept {
  if (!note()) return;  // no submission: its start job ends it
  // submissions/leave. The task counts as alive until the second of two has ended it, and one of
  // them is here: so the pool is there. What has left keeps the block, so the coroutine goes now.
  destroy_removed();
  env_block().stop().request_stop(reason);
  worker_pool::impl& pool = static_cast<worker_pool*>(env_block().home())->implementation();
  const worker_pool::impl::visit here(pool);
  if (pool.leave_queue(*this)) {
    end_removed(reason);
  } else if (handed_.exchange(true, std::memory_order_acq_rel)) {
    tandem::runtime& counted_at = owner();
    end_removed(reason);
    release_clock(counted_at);  // left_to_remover()
  }
}

bool joinable_root::left_to_remover() noexcept {
  if (!note()) return false;
  // driving/clock: until the remover has ended it. It is about to, and there is nothing else that
  // tells.
  tandem::runtime& counted_at = owner();
  hold_clock(counted_at);
  if (!handed_.exchange(true, std::memory_order_acq_rel)) return true;
  release_clock(counted_at);
  return false;
}

submit_waiter::~submit_waiter() {
  if (block_ == nullptr) return;
  if (counted_) block_->take_back();
  release_block(*block_);
}

void submit_waiter::try_once() noexcept {
  worker_pool::impl& pool = pool_->implementation();
  block_->launch_unposted();  // submissions/count
  counted_ = true;
  try {
    switch (pool.try_admit(*block_, priority_)) {
      case submission_queue::answer::entered: state_ = state::entered; break;
      case submission_queue::answer::closed: state_ = state::refused; break;
      case submission_queue::answer::full: break;
    }
  } catch (const std::bad_alloc&) {
    state_ = state::no_memory;
  }
}

bool submit_waiter::ready() {
  refuse_if_forked(*pool_->owner(), "worker_pool::submit_when_free");
  thread_context& context = this_thread();
  if (context.budget == 0 || must_stop()) return false;
  const worker_pool::impl::visit here(pool_->implementation());
  try_once();
  if (state_ == state::idle) return false;
  --context.budget;
  return true;
}

bool submit_waiter::start(promise_base& waiting) noexcept {
  worker_pool::impl& pool = pool_->implementation();
  const worker_pool::impl::visit here(pool);
  if (!counted_ && !must_stop()) {
    // No budget to go on at once.
    try_once();
    if (state_ != state::idle) {
      waiting.post(post_kind::yield);
      return true;
    }
  }
  if (!begin(waiting)) return false;
  // submissions/wait. From here on a worker or a stopper may end the wait, and us with it.
  if (pool.enter_or_wait(*this)) return true;
  if (state_ == state::stopped) set_cancelled();  // on_stop was first
  // Either the stopper schedules the task when it has handed over, or nobody has the leaf any more.
  return !finish_unposted();
}

bool submit_waiter::on_stop(stop_waiter& self) noexcept {
  auto& waiter = static_cast<submit_waiter&>(self);
  if (waiter.pool_->implementation().submissions().stop_waiting(waiter)) waiter.finish_stopped();
  return true;
}

joinable_root& submit_waiter::take_entered() {
  throw_if_cancelled();
  if (state_ == state::entered) return *std::exchange(block_, nullptr);
  if (state_ == state::no_memory) throw std::bad_alloc();
  throw rejected(
      pool_->implementation().rejection_of(rejection_cause::shut_down, where_, priority_));
}

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
