// submit_waiter.cpp: waiting until a pool takes a task.
// SPDX-License-Identifier: MIT
#include <tandem/detail/submit_waiter.hpp>

#include <new>
#include <utility>

#include <tandem/detail/forked.hpp>
#include <tandem/rejected.hpp>

#include "submit/submission_desk.hpp"

namespace tandem::inline v0::detail {

constinit const wait_kind submit_waiter::waits_for_pool(
    &submit_waiter::on_stop, "room in the queue of a worker pool", wait_end::system,
    [](const stop_waiter& wait, wait_note& note) noexcept {
      const auto& self = static_cast<const submit_waiter&>(wait);
      note.object = self.pool_;
      note.say("for the task of %s:%u", self.where_.file_name(), self.where_.line());
    });

submit_waiter::~submit_waiter() {
  if (block_ == nullptr) return;
  if (counted_) block_->take_back();
  block_->forget();
}

void submit_waiter::try_once(submission_desk& desk) noexcept {
  block_->launch_unposted();  // submissions/count
  counted_ = true;
  try {
    switch (desk.try_admit(*block_, priority_)) {
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
  submission_desk& desk = desk_of(*pool_);
  const visit here = desk.come_in();
  try_once(desk);
  if (state_ == state::idle) return false;
  --context.budget;
  return true;
}

bool submit_waiter::start(promise_base& waiting) noexcept {
  submission_desk& desk = desk_of(*pool_);
  const visit here = desk.come_in();
  if (!counted_ && !must_stop()) {
    // No budget to go on at once.
    try_once(desk);
    if (state_ != state::idle) {
      waiting.post(post_kind::yield);
      return true;
    }
  }
  if (!begin(waiting)) return false;
  // submissions/wait. From here on a worker or a stopper may end the wait, and us with it.
  if (desk.enter_or_wait(*this)) return true;
  if (state_ == state::stopped) set_cancelled();  // on_stop was first
  // Either the stopper schedules the task when it has handed over, or nobody has the leaf any more.
  return !finish_unposted();
}

bool submit_waiter::on_stop(stop_waiter& self) noexcept {
  auto& waiter = static_cast<submit_waiter&>(self);
  if (desk_of(*waiter.pool_).stop_waiting(waiter)) waiter.finish_stopped();
  return true;
}

joinable_root& submit_waiter::take_entered() {
  throw_if_cancelled();
  if (state_ == state::entered) return *std::exchange(block_, nullptr);
  if (state_ == state::no_memory) throw std::bad_alloc();
  throw rejected(desk_of(*pool_).rejection_of(rejection_cause::shut_down, where_, priority_));
}

}  // namespace tandem::inline v0::detail
