// stop_look.cpp: the steps of a look. Protocol stopping: README.md beside this.
// SPDX-License-Identifier: MIT
#include "stop/stop_look.hpp"

#include <mutex>
#include <utility>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/leaf.hpp>

#include "stop/stopped_tasks.hpp"

namespace tandem::inline v0::detail {

namespace {
constexpr std::size_t spare_levels = 16;
}

constinit const wait_kind stop_look::kind_of_wait_mark(&stop_look::mark_was_stopped, "");

bool stop_look::mark_was_stopped(stop_waiter& /*mark*/) noexcept {
  return true;  // nobody has handed over, so nobody is resumed
}

stop_look::~stop_look() {
  // Left early, by an exception of settle(): no lock is held.
  while (depth_ != 0) {
    level& in = lowest();
    {
      const std::lock_guard lock(in.at->lock_);
      if (in.is_marked) (void)take_mark(in);
    }
    if (--depth_ == 0) break;
    const std::lock_guard lock(lowest().at->lock_);
    in.at->is_looked_at_ = false;
  }
  end_held();
}

void stop_look::walk(stop_state& top) {
  make_room();
  levels_[depth_++].begin(top);
  top.lock_.lock();
  while (true) {
    level& in = lowest();
    if (!in.waits_shown) {
      show_listed_waits(in);
      in.next = in.at->first_child_;
      show_joiner(in);
      in.waits_shown = true;
    }
    if (show_children(in)) continue;  // one level deeper
    // All are shown.
    stop_state* const done = in.at;
    done->lock_.unlock();
    // A level that is left takes room, too; `done` is kept by is_looked_at_.
    if (visitor_.has_room()) {
      end_held();
    } else {
      make_room();
    }
    if (--depth_ == 0) break;
    level& above = lowest();
    above.at->lock_.lock();
    done->is_looked_at_ = false;  // it may end as soon as this lock is free
    visitor_.leave();
    above.next = take_mark(above);
  }
  visitor_.settle();
}

void stop_look::show_listed_waits(level& in) {
  // Whoever ends one of them needs the lock, so nothing has to be taken out. stopping/mark
  stop_waiter mark(kind_of_wait_mark, false);
  stop_waiter* each = in.at->overflow_;
  while (each != nullptr) {
    if (!visitor_.has_room()) {
      // In front of it.
      mark.listed_ = true;
      mark.next_ = each;
      mark.previous_ = each->previous_;
      (each->previous_ != nullptr ? each->previous_->next_ : in.at->overflow_) = &mark;
      each->previous_ = &mark;
      in.at->lock_.unlock();
      const auto take_out = [&] {
        in.at->lock_.lock();
        if (!mark.listed_) return static_cast<stop_waiter*>(nullptr);  // a stop took all
        mark.listed_ = false;
        (mark.previous_ != nullptr ? mark.previous_->next_ : in.at->overflow_) = mark.next_;
        if (mark.next_ != nullptr) mark.next_->previous_ = mark.previous_;
        return mark.next_;
      };
      try {
        make_room();
      } catch (...) {
        (void)take_out();
        in.at->lock_.unlock();
        throw;
      }
      each = take_out();
      continue;
    }
    const bool known = each->handed_.load(std::memory_order_relaxed) ==
                       stop_waiter::handed::looked_at;  // under the lock
    show(*each, known);
    if (!known) {
      // Nobody hands over while it hangs here.
      each->handed_.store(stop_waiter::handed::looked_at, std::memory_order_relaxed);
    }
    each = each->next_;
  }
}

void stop_look::show_joiner(const level& in) noexcept {
  if (depth_ < 2) return;  // of the runtime: nobody waits there
  const environment& of = environment::of(*in.at);
  if (of.kind().waiting == nullptr) return;
  // scopes/look: the last child unlinks itself before it lets the joiner go.
  for (const stop_state* each = in.at->first_child_; each != nullptr; each = each->next_sibling_) {
    if (is_mark(*each)) continue;
    if (const promise_base* const frame = of.kind().waiting(of)) visitor_.joins(*frame);
    return;
  }
}

bool stop_look::show_children(level& in) {
  while (in.next != nullptr) {
    stop_state& child = *in.next;
    if (is_mark(child)) {
      in.next = child.next_sibling_;
      continue;
    }
    if (!visitor_.has_room() || depth_ == levels_.size()) {
      pause(in);
      continue;
    }
    visitor_.enter(environment::of(child));
    show_slot(child);
    if (has_more(child)) {
      // stopping/look. It stays while we are below it. Its lock is taken before ours is given up.
      levels_[depth_++].begin(child);
      set_mark(in, child.next_sibling_);
      child.is_looked_at_ = true;
      child.lock_.lock();
      in.at->lock_.unlock();
      return true;
    }
    visitor_.leave();
    in.next = child.next_sibling_;
  }
  return false;
}

bool stop_look::has_more(stop_state& child) noexcept {
  const std::lock_guard lock(child.lock_);  // parent before child
  return child.first_child_ != nullptr || child.overflow_ != nullptr;
}

bool stop_look::is_mark(const stop_state& child) noexcept {
  return &environment::of(child).kind() == &kind_of_mark;
}

void stop_look::set_mark(level& in, stop_state* before) noexcept {
  stop_state& mark = in.child_mark.stop();
  in.child_mark.set_kind(kind_of_mark, nullptr);
  // `before` null: behind the child that was shown last.
  stop_state* const previous = before != nullptr ? before->previous_sibling_ : in.next;
  mark.parent_ = in.at;
  mark.previous_sibling_ = previous;
  mark.next_sibling_ = before;
  (previous != nullptr ? previous->next_sibling_ : in.at->first_child_) = &mark;
  if (before != nullptr) before->previous_sibling_ = &mark;
  in.is_marked = true;
}

stop_state* stop_look::take_mark(level& in) noexcept {
  stop_state& mark = in.child_mark.stop();
  (mark.previous_sibling_ != nullptr ? mark.previous_sibling_->next_sibling_
                                     : in.at->first_child_) = mark.next_sibling_;
  if (mark.next_sibling_ != nullptr) mark.next_sibling_->previous_sibling_ = mark.previous_sibling_;
  mark.parent_ = nullptr;
  in.is_marked = false;
  return mark.next_sibling_;
}

void stop_look::make_room() {
  end_held();
  if (levels_.size() < depth_ + spare_levels / 2) {
    while (levels_.size() < depth_ + spare_levels) levels_.emplace_back();
  }
  visitor_.settle();
}

void stop_look::pause(level& in) {
  set_mark(in, in.next);
  in.at->lock_.unlock();
  make_room();
  in.at->lock_.lock();
  in.next = take_mark(in);
}

void stop_look::show_slot(stop_state& of) noexcept {
  // stopping/hold
  stop_waiter* held = of.slot_.load(std::memory_order_acquire);
  do {
    if (held == nullptr || held == stop_state::stopped_mark() || held == stop_state::held_mark() ||
        held == stop_state::not_linked_mark()) {
      return;
    }
  } while (!of.slot_.compare_exchange_weak(held, stop_state::held_mark(), std::memory_order_acq_rel,
                                           std::memory_order_acquire));
  stop_waiter::handed before = stop_waiter::handed::looked_at;
  const bool known = held->handed_.compare_exchange_strong(before, stop_waiter::handed::no,
                                                           std::memory_order_acq_rel);
  show(*held, known);
  // stopping/put_back, in this order.
  before = stop_waiter::handed::no;
  if (!held->handed_.compare_exchange_strong(before, stop_waiter::handed::looked_at,
                                             std::memory_order_acq_rel)) {
    // Whoever has ended the wait meanwhile has left the task to us. The slot may say "stopped" by
    // now.
    stop_waiter* mine = stop_state::held_mark();
    of.slot_.compare_exchange_strong(mine, nullptr, std::memory_order_acq_rel);
    held->resume();
    return;
  }
  stop_waiter* mine = stop_state::held_mark();
  if (of.slot_.compare_exchange_strong(mine, held, std::memory_order_acq_rel)) return;
  // A stop came meanwhile, and found our mark: the wait is ours to stop, without a lock.
  stop_state::forget_look(*held);
  held->next_ = std::exchange(to_be_stopped_, held);
}

void stop_look::show(stop_waiter& what, bool known) noexcept {
  const promise_base* frame = nullptr;
  if (what.is_leaf_) {
    frame = &static_cast<const leaf&>(what).waiting();
  } else if (what.kind_->frame != nullptr) {
    frame = what.kind_->frame(what);
  }
  if (frame != nullptr) visitor_.wait(what, *frame, known);
}

void stop_look::end_held() noexcept {
  stopped_tasks stopped;
  while (to_be_stopped_ != nullptr) {
    stop_state::stop_one(*std::exchange(to_be_stopped_, to_be_stopped_->next_), stopped);
  }
}

}  // namespace tandem::inline v0::detail
