// place_queue.cpp: places that go from task to task.
// SPDX-License-Identifier: MIT
#include <tandem/detail/place_queue.hpp>

#include <mutex>

namespace tandem::inline v0::detail {

constinit const wait_kind place_waiter::waits_for_place(
    &place_waiter::on_stop, "a place in a scope", wait_end::anybody,
    [](const stop_waiter& wait, wait_note& note) noexcept {
      const place_queue& places = *static_cast<const place_waiter&>(wait).places_;
      note.object = &places;
      const std::lock_guard guard(places.lock_);
      note.say("where %zu of %zu children run", places.taken_,
               places.limit_.load(std::memory_order_relaxed));
    });

bool place_waiter::ready() noexcept {
  thread_context& context = this_thread();
  if (context.budget == 0) return false;
  const std::lock_guard guard(places_->lock_);
  if (!places_->take_locked()) return false;
  state_ = state::granted;
  --context.budget;
  return true;
}

bool place_waiter::start(promise_base& waiting) noexcept {
  if (!begin(waiting)) return false;
  bool free = false;
  {
    const std::lock_guard guard(places_->lock_);
    if (state_ == state::idle) {
      free = places_->take_locked();
      if (!free) {
        // From here on a giver or a stopper may end the wait, and us with it.
        state_ = state::queued;
        previous_waiter_ = places_->newest_;
        next_waiter_ = nullptr;
        (previous_waiter_ != nullptr ? previous_waiter_->next_waiter_ : places_->oldest_) = this;
        places_->newest_ = this;
        return true;
      }
      state_ = state::granted;
    }
  }
  if (!free) set_cancelled();  // on_stop was first
  // Either the stopper schedules the task when it has handed over, or nobody has the leaf any more.
  if (!finish_unposted()) return true;
  if (!free) return false;
  // There was a place, but no budget to go on at once with it.
  waiting.post(post_kind::yield);
  return true;
}

bool place_waiter::on_stop(stop_waiter& self) noexcept {
  auto& waiter = static_cast<place_waiter&>(self);
  place_queue& places = *waiter.places_;
  {
    const std::lock_guard guard(places.lock_);
    const state before = waiter.state_;
    if (before == state::granted) return true;
    waiter.state_ = state::stopped;
    if (before == state::idle) return true;  // start() sees it
    (waiter.previous_waiter_ != nullptr ? waiter.previous_waiter_->next_waiter_ : places.oldest_) =
        waiter.next_waiter_;
    (waiter.next_waiter_ != nullptr ? waiter.next_waiter_->previous_waiter_ : places.newest_) =
        waiter.previous_waiter_;
  }
  waiter.finish_stopped();
  return true;
}

bool place_queue::take_locked() noexcept {
  const std::size_t limit = limit_.load(std::memory_order_relaxed);  // under the lock
  if (limit != 0 && taken_ >= limit) return false;
  ++taken_;
  return true;
}

place_waiter* place_queue::pop_locked() noexcept {
  place_waiter* const waiter = oldest_;
  if (waiter == nullptr) return nullptr;
  oldest_ = waiter->next_waiter_;
  (oldest_ != nullptr ? oldest_->previous_waiter_ : newest_) = nullptr;
  waiter->state_ = place_waiter::state::granted;
  return waiter;
}

void place_queue::set_limit(std::size_t limit) noexcept {
  while (true) {
    place_waiter* waiter = nullptr;
    {
      const std::lock_guard guard(lock_);
      limit_.store(limit, std::memory_order_relaxed);  // under the lock
      if (oldest_ == nullptr || !take_locked()) return;
      waiter = pop_locked();
    }
    waiter->finish();
  }
}

bool place_queue::take_anyway() noexcept {
  // Relaxed: most scopes have no limit, and then no lock is taken. A limit counts for whoever knows
  // of it, and the others spawn beside it.
  if (limit_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard guard(lock_);
  ++taken_;
  return true;
}

void place_queue::give_back() noexcept {
  place_waiter* waiter = nullptr;
  {
    const std::lock_guard guard(lock_);
    --taken_;
    if (oldest_ == nullptr || !take_locked()) return;
    waiter = pop_locked();
  }
  waiter->finish();  // it waits for this call, or for the stopper's after it
}

}  // namespace tandem::inline v0::detail
