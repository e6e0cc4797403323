// stop.cpp: how a stop request walks down a tree of environments.
// SPDX-License-Identifier: MIT
//
// The walk is iterative (a tree may be 100,000 levels deep) and holds the locks of the path from
// the node where it began to where it is. Order of locks: parent before child, always.
#include <tandem/stop.hpp>

#include <mutex>
#include <thread>
#include <utility>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/leaf.hpp>
#include <tandem/environment.hpp>
#include <tandem/errors.hpp>

#include "stop/stopped_tasks.hpp"

namespace tandem::inline v0 {

const char* to_string(stop_reason reason) noexcept {
  switch (reason) {
    case stop_reason::none: return "none";
    case stop_reason::user: return "user";
    case stop_reason::deadline: return "deadline";
    case stop_reason::parent: return "parent";
    case stop_reason::sibling_failed: return "sibling failed";
    case stop_reason::race_lost: return "race lost";
    case stop_reason::shutdown: return "shutdown";
    case stop_reason::discarded: return "discarded";
    case stop_reason::migrate: return "migrate";
  }
  return "unknown";
}

void stop_waiter::resume() noexcept {
  if (is_leaf_) [[likely]] {
    static_cast<detail::leaf&>(*this).waiting().post();
  } else {
    auto& listener = static_cast<stop_listener&>(*this);
    listener.resume_(listener);
  }
}

stop_state::~stop_state() {
  TANDEM_ASSERT(parent_ == nullptr, "a stop state was destroyed while linked to its parent");
  TANDEM_ASSERT(first_child_ == nullptr, "a stop state was destroyed before its children");
}

stop_waiter* stop_state::stopped_mark() noexcept {
  // An address that is no waiter's; never dereferenced.
  return reinterpret_cast<stop_waiter*>(std::uintptr_t{1});  // NOLINT
}

stop_waiter* stop_state::held_mark() noexcept {
  return reinterpret_cast<stop_waiter*>(std::uintptr_t{2});  // NOLINT
}

stop_reason stop_state::reason_above() const noexcept {
  // stopping/late
  for (const stop_state* at = this;; at = at->parent_) {
    stop_reason seen = at->reason_.load(std::memory_order_acquire);
    if (seen != as_above) return seen;
    if (!at->tells_ || at->is_listed_.load(std::memory_order_acquire)) [[likely]]
      continue;
    // stopping/tell. Nothing waits below it yet, so no stop that this leads to runs code of others.
    if (at->tell_asked()) const_cast<stop_state*>(at)->link_now();  // NOLINT
    seen = at->reason_.load(std::memory_order_acquire);
    if (seen != as_above) return seen;
  }
}

stop_reason stop_state::reason_for_report() const noexcept {
  const stop_state* at = this;
  while (at->reason_.load(std::memory_order_acquire) == as_above) at = at->parent_;
  return at->reason_.load(std::memory_order_acquire);
}

bool stop_state::tell_asked() const noexcept {
  const environment& of = environment::of(*this);
  return of.kind().asked(of);
}

void stop_state::tell_linked() noexcept {
  const environment& of = environment::of(*this);
  of.kind().linked(of);
}

void stop_state::link_at_once() noexcept {
  late_levels_ = 0;
  // Relaxed, both: nobody else knows it yet.
  slot_.store(nullptr, std::memory_order_relaxed);
  reason_.store(stop_reason::none, std::memory_order_relaxed);
  link(*parent_);
  if (tells_) tell_linked();
}

void stop_state::enter_late() noexcept {
  stop_reason reason = stop_reason::none;
  {
    const std::lock_guard lock(parent_->lock_);
    if (!is_listed_.load(std::memory_order_relaxed)) enter_children_of(*parent_);  // under the lock
    reason = parent_->reason_for_report();  // what is above has been told to others, too
  }
  // A walk that came before us has left the parent; a later one comes through the list.
  if (is_stop(reason)) (void)request_stop(reason);
}

void stop_state::link_now() noexcept {
  // stopping/late. First all are in their lists, then the first waits are let in.
  stop_state* above = this;
  for (; above->is_not_linked(); above = above->parent_) above->enter_late();
  for (stop_state* at = this; at != above; at = at->parent_) {
    // Fails where a stop has come, or a sibling was quicker. acq_rel: pairs with is_not_linked().
    stop_waiter* mark = not_linked_mark();
    const bool is_first =
        at->slot_.compare_exchange_strong(mark, nullptr, std::memory_order_acq_rel);
    if (at->tells_ && is_first) [[unlikely]]
      at->tell_linked();  // stopping/tell
  }
}

bool stop_state::publish(stop_waiter& waiter) noexcept {
  stop_waiter* expected = nullptr;
  // stopping/publish. acq_rel: pairs with the exchange in mark().
  while (!slot_.compare_exchange_strong(expected, &waiter, std::memory_order_acq_rel)) {
    if (expected == stopped_mark()) return false;
    // Forked siblings share one environment: the second leaf that waits at once goes to the list.
    if (expected != not_linked_mark()) return add_to_list(waiter);
    link_now();
    expected = nullptr;
  }
  return true;
}

bool stop_state::listen(stop_waiter& waiter) noexcept {
  waiter.after_walk_ = true;
  return add_to_list(waiter);
}

bool stop_state::listen_in_await(stop_waiter& waiter) noexcept {
  waiter.after_walk_ = true;
  return publish(waiter);
}

bool stop_state::add_to_list(stop_waiter& waiter) noexcept {
  if (is_not_linked()) link_now();
  std::lock_guard lock(lock_);
  if (is_stop(reason_.load(std::memory_order_relaxed))) return false;  // under the lock
  waiter.overflowed_ = true;
  waiter.listed_ = true;
  waiter.previous_ = nullptr;
  waiter.next_ = overflow_;
  if (overflow_ != nullptr) overflow_->previous_ = &waiter;
  overflow_ = &waiter;
  return true;
}

bool stop_state::withdraw(stop_waiter& waiter) noexcept {
  if (!waiter.overflowed_) [[likely]] {
    stop_waiter* expected = &waiter;
    // stopping/take_back. Fails only if mark() has taken the waiter, or a look.
    return slot_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
  }
  std::lock_guard lock(lock_);
  if (!waiter.listed_) return false;
  waiter.listed_ = false;
  (waiter.previous_ != nullptr ? waiter.previous_->next_ : overflow_) = waiter.next_;
  if (waiter.next_ != nullptr) waiter.next_->previous_ = waiter.previous_;
  return true;
}

bool stop_state::leave_to_holder(stop_waiter& waiter) noexcept {
  // stopping/leave
  while (true) {
    stop_waiter::handed seen = stop_waiter::handed::no;
    if (waiter.handed_.compare_exchange_strong(seen, stop_waiter::handed::over,
                                               std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
      return false;
    }
    if (seen == stop_waiter::handed::over) return true;
    // stopping/put_back, stopping/request: whoever has it is between two instructions.
    if (withdraw(waiter)) return true;
    std::this_thread::yield();
  }
}

void stop_state::forget_look(stop_waiter& waiter) noexcept {
  stop_waiter::handed seen = stop_waiter::handed::looked_at;
  // Fails mostly: nobody has looked. Pairs with stopping/leave.
  waiter.handed_.compare_exchange_strong(seen, stop_waiter::handed::no, std::memory_order_acq_rel);
}

void stop_state::stop_one(stop_waiter& waiter, detail::stopped_tasks& stopped) noexcept {
  // stopping/hand_over. Both orders end the wait once: whoever hands over second resumes; leaves by
  // stopping/gather.
  if (!waiter.kind_->on_stop(waiter) || !waiter.hand_over()) return;
  if (waiter.is_leaf_) {
    stopped.add(static_cast<detail::leaf&>(waiter).waiting());
  } else {
    waiter.resume();
  }
}

void stop_state::link_closed(stop_state& parent) noexcept {
  is_closed_ = true;
  if (parent.is_not_linked()) parent.link_now();
  parent_ = &parent;
  std::lock_guard lock(parent.lock_);
  enter_children_of(parent);
}

void stop_state::link(stop_state& parent) noexcept {
  if (parent.is_not_linked()) parent.link_now();
  parent_ = &parent;
  std::lock_guard lock(parent.lock_);
  enter_children_of(parent);
  const stop_reason reason = parent.reason_for_report();  // as in enter_late()
  if (reason != stop_reason::none) {
    std::lock_guard own(lock_);
    detail::stopped_tasks nobody;
    (void)mark(reason, nullptr, nobody);  // nothing has begun below: there is nobody to tell
  }
}

void stop_state::unlink() noexcept {
  if (!is_listed_.load(std::memory_order_relaxed)) {
    // stopping/late: all below have ended, so nobody enters it any more.
    parent_ = nullptr;
    return;
  }
  // stopping/unlink. A walk that came through the parent holds this lock until it has left this
  // state.
  std::unique_lock lock(parent_->lock_);
  while (is_looked_at_) [[unlikely]] {
    // stopping/look: it is below us, where nobody is left, and so on its way out.
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
  (previous_sibling_ != nullptr ? previous_sibling_->next_sibling_ : parent_->first_child_) =
      next_sibling_;
  if (next_sibling_ != nullptr) next_sibling_->previous_sibling_ = previous_sibling_;
  is_listed_.store(false, std::memory_order_relaxed);  // nobody is below
  parent_ = nullptr;
}

stop_waiter* stop_state::mark(stop_reason reason, stop_waiter* later,
                              detail::stopped_tasks& stopped) noexcept {
  if (is_stop(reason_.load(std::memory_order_relaxed))) return later;  // under the lock
  reason_.store(reason, std::memory_order_release);
  // stopping/request. acq_rel: pairs with publish; from here on publish() answers false.
  stop_waiter* const leaf = slot_.exchange(stopped_mark(), std::memory_order_acq_rel);
  if (leaf == nullptr || leaf == held_mark() || leaf == not_linked_mark()) {
    // stopping/put_back: whoever looks at the leaf sees the mark, and stops it.
  } else {
    forget_look(*leaf);
    if (leaf->after_walk_) {
      leaf->next_ = later;
      later = leaf;
    } else {
      stop_one(*leaf, stopped);
    }
  }
  while (overflow_ != nullptr) {
    stop_waiter& waiter = *overflow_;
    overflow_ = waiter.next_;
    if (overflow_ != nullptr) overflow_->previous_ = nullptr;
    waiter.listed_ = false;
    forget_look(waiter);
    if (waiter.after_walk_) {
      waiter.next_ = later;
      later = &waiter;
    } else {
      stop_one(waiter, stopped);
    }
  }
  return later;
}

void stop_state::tell_after_walk(stop_waiter* later) noexcept {
  // A listener may stop another state, whose listeners are told by a deeper call, and so on. Beyond
  // some depth the outer call tells them, so that a chain of tokens is no deep stack.
  constexpr int deepest = 64;
  static constinit thread_local int depth = 0;
  static constinit thread_local stop_waiter* left = nullptr;
  if (depth == deepest) {
    while (later != nullptr) {
      stop_waiter& waiter = *std::exchange(later, later->next_);
      waiter.next_ = std::exchange(left, &waiter);
    }
    return;
  }
  ++depth;
  while (later != nullptr || (depth == deepest && left != nullptr)) {
    stop_waiter*& from = later != nullptr ? later : left;
    stop_waiter& waiter = *std::exchange(from, from->next_);
    detail::stopped_tasks stopped;
    stop_one(waiter, stopped);
  }
  --depth;
}

void stop_state::fetch_ahead() const noexcept {
  // stopping/walk. A child lies in its task's memory, and its leaf in the frame: so the walk asks for
  // the next leaf, and for the child after it, whose turn to tell of its leaf comes then. The
  // parent's lock keeps both in the list; a leaf may have gone, which harms no hint.
  const stop_state* const next = next_sibling_;
  if (next == nullptr) return;
  // As numbers: there may be none, or a mark.
  const auto fetch = [](std::uintptr_t address) {
    TANDEM_PREFETCH_TO_WRITE(reinterpret_cast<const void*>(address));  // NOLINT
  };
  const auto leaf =
      reinterpret_cast<std::uintptr_t>(next->slot_.load(std::memory_order_relaxed));  // NOLINT
  fetch(leaf - 64);  // the frame's promise is in front of what it waits by
  fetch(leaf);
  fetch(leaf + 64);
  const auto after = reinterpret_cast<std::uintptr_t>(next->next_sibling_);  // NOLINT
  fetch(after);
  fetch(after + 64);
}

bool stop_state::request_stop(stop_reason reason) noexcept {
  if (reason == stop_reason::none) reason = stop_reason::user;  // "none" means: not stopped
  lock_.lock();
  const stop_reason before = reason_.load(std::memory_order_relaxed);  // under the lock
  if (is_stop(before)) {
    lock_.unlock();
    return false;
  }
  // stopping/late. Who has asked was told the reason from above: the first one stays.
  if (before == as_above) {
    const stop_reason above = reason_for_report();
    if (above != stop_reason::none) reason = above;
  }
  // stopping/walk. Depth first; `at` is locked, and so is every state between it and this one.
  stop_state* at = this;
  detail::stopped_tasks stopped;
  stop_waiter* later = at->mark(reason, nullptr, stopped);
  while (true) {
    stop_state* next = open_from(at->first_child_);
    if (next == nullptr) {
      bool is_above = false;
      while (at != this && open_from(at->next_sibling_) == nullptr) {
        stop_state* const up = at->parent_;
        at->lock_.unlock();
        at = up;
        is_above = true;
      }
      if (at == this) break;
      next = open_from(at->next_sibling_);
      at->lock_.unlock();
      // stopping/gather. Not among siblings: whoever ends there waits for their parent's lock.
      if (is_above && stopped.are_many()) stopped.post();
    }
    next->lock_.lock();
    next->fetch_ahead();
    later = next->mark(reason, later, stopped);
    at = next;
  }
  lock_.unlock();
  stopped.post();
  // stopping/listener. Each is held by our half of its hand-over; this state may be gone.
  if (later != nullptr) tell_after_walk(later);
  return true;
}

bool stop_requested() noexcept {
  const environment* const env = current_environment();
  return env != nullptr && env->stop().stop_requested();
}

stop_reason current_stop_reason() noexcept {
  const environment* const env = current_environment();
  return env != nullptr ? env->stop().reason() : stop_reason::none;
}

void throw_if_stopped() {
  const stop_reason reason = current_stop_reason();
  if (reason != stop_reason::none) throw operation_cancelled(reason);
}

}  // namespace tandem::inline v0
