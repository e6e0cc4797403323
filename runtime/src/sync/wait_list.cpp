// wait_list.cpp: waiting in a list, and being taken out of it by a granter or a stopper.
// SPDX-License-Identifier: MIT
#include <tandem/detail/wait_list.hpp>

#include <utility>

namespace tandem::inline v0::detail {

bool waiter::on_stop(stop_waiter& self) noexcept {
  auto& stopped = static_cast<waiter&>(self);
  lock_word& lock = *stopped.lock_;
  bool was_queued = false;
  lock_word::word state = lock.lock();
  if (stopped.place_ == place::queued) {
    stopped.list_->remove(stopped);
    was_queued = true;
    if (stopped.list_->empty()) state &= ~lock_word::waiters;
  }
  // waiting/stop. Not in the list yet: it will see this before it would enter.
  if (stopped.place_ != place::taken) stopped.place_ = place::stopped;
  lock.unlock(state);
  if (was_queued) stopped.finish_stopped();
  return true;
}

bool waiter::disarm() noexcept {
  lock_word::word state = lock_->lock();
  const bool was_queued = place_ == place::queued;
  if (was_queued) {
    list_->remove(*this);
    if (list_->empty()) state &= ~lock_word::waiters;
  }
  place_ = place::outside;
  lock_->unlock(state);
  return was_queued;
}

std::size_t wait_list::count() const noexcept {
  std::size_t found = 0;
  for (const waiter* each = first_; each != nullptr; each = each->next_) ++found;
  return found;
}

template <class Look>
waiter* wait_list::first_that(Look look) noexcept {
  waiter* each = first_;
  while (each != nullptr) {
    switch (look(*each)) {
      case branch_look::claimable: return each;
      case branch_look::own: each = each->next_; break;
      case branch_look::not_now: set_aside(*std::exchange(each, each->next_));
    }
  }
  return nullptr;
}

waiter* wait_list::front_past_branches() noexcept {
  return first_that([](waiter& each) noexcept { return each.look_at_branch(); });
}

waiter* wait_list::pop_past_branches() noexcept {
  waiter* const claimed = first_that([](waiter& each) noexcept { return each.claim_unless_own(); });
  return claimed != nullptr ? &taken(*claimed) : nullptr;
}

waiter* wait_list::take_all() noexcept {
  // As they are, so that all that wait for themselves only stay linked.
  waiter* each = first_;
  while (each != nullptr) {
    waiter& item = *std::exchange(each, each->next_);
    if (item.claim()) [[likely]] {
      item.place_ = waiter::place::taken;
    } else {
      set_aside(item);
    }
  }
  last_ = nullptr;
  return std::exchange(first_, nullptr);
}

void taken_list::push_back(waiter* item) noexcept {
  (last_ != nullptr ? last_->next_ : first_) = item;
  last_ = item;
}

void taken_list::wake(waiter* first) noexcept {
  job_list batch;
  executor* home = nullptr;
  while (first != nullptr) {
    waiter& each = *std::exchange(first, first->next_);  // before it may be gone
    promise_base& waiting = each.waiting();
    if (!each.finish_unposted()) continue;  // a stopper resumes it
    if (waiting.home != home) {
      if (!batch.empty()) home->post_batch(std::exchange(batch, {}));
      home = waiting.home;
    }
    waiting.note_queued();
    batch.push_back(&waiting);
  }
  if (batch.size() == 1) {
    home->post(batch.pop_front());
  } else if (!batch.empty()) {
    home->post_batch(batch);
  }
}

void yield_for_budget(promise_base& waiting) noexcept {
  this_thread().budget = await_budget;
  waiting.post(post_kind::yield);
}

}  // namespace tandem::inline v0::detail
