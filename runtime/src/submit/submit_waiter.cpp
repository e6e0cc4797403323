// submit_waiter.cpp: waiting until a pool takes a task.
// SPDX-License-Identifier: MIT
#include <tandem/detail/submit_waiter.hpp>

#include <new>
#include <utility>

#include <tandem/detail/forked.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/rejected.hpp>

#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0::detail {

submit_waiter::~submit_waiter() {
  if (block_ == nullptr) return;
  if (counted_) block_->take_back();
  block_->forget();
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

}  // namespace tandem::inline v0::detail
