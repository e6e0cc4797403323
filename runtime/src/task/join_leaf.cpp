// join_leaf.cpp: awaiting a spawned task: by a call, if it is still queued, or by waiting for it.
// SPDX-License-Identifier: MIT
#include <tandem/spawn.hpp>

namespace tandem::inline v0::detail {

void joinable_root::release() noexcept {
  // Whoever has the only one may as well not write: nobody gets another one but from somebody who
  // has one.
  if (references_.load(std::memory_order_acquire) == 1 ||
      references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete this;
  }
}

void joinable_root::start_job_is_late() noexcept { release(); }

joinable_root::join joinable_root::run_here(promise_base& waiting) noexcept {
  thread_context& context = this_thread();
  if (!is_queued_at(waiting.home) || context.budget == 0 || too_deep(context) ||
      waiting.env->stop().stop_requested()) {
    return join::not_begun;
  }
  // changes/timing. This segment began before anybody was observed, so it could not hand its time
  // over (records/segment).
  if (context.observed == nullptr && env_block().record() != nullptr) [[unlikely]]
    return join::not_begun;
  references_.fetch_add(1, std::memory_order_relaxed);  // the start job's, which stays queued
  bool has_ended = false;
  if (!call_here(context, has_ended)) {
    release();  // never the last: the handle has one
    return join::not_begun;
  }
  --context.budget;
  // What has not ended may go on in this thread (calls/limit) before any other task: its
  // environment stays.
  if (!has_ended) return join::suspended;
  context.env = waiting.env;
  return join::ended;
}

bool join_leaf::start(promise_base& waiting) noexcept {
  const joinable_root::join ran = target_->run_here(waiting);
  if (ran == joinable_root::join::ended) return false;
  if (ran == joinable_root::join::not_begun) return wait(waiting);
  // What the suspended task has left in the lane lies above what this stack knows of (joins/next),
  // so this stack unwinds, even if the task has ended elsewhere by now.
  if (!wait(waiting)) waiting.post();
  return true;
}

bool join_leaf::wait(promise_base& waiting) noexcept {
  if (!begin(waiting)) return false;
  if (target_->register_joiner(*this)) return true;
  return !finish_unposted();
}

bool join_leaf::on_stop(stop_waiter& self) noexcept {
  auto& waiter = static_cast<join_leaf&>(self);
  if (waiter.target_->remove_joiner(waiter)) waiter.finish_stopped();
  return true;
}

}  // namespace tandem::inline v0::detail
