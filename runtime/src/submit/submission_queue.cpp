// submission_queue.cpp: entering, waiting for a place, and leaving.
// SPDX-License-Identifier: MIT
#include "submit/submission_queue.hpp"

#include <new>
#include <thread>

namespace tandem::inline v0::detail {

using answer = submission_queue::answer;
using place = joinable_root::place;

namespace {

answer answer_to(submission_inbox::place given) noexcept {
  switch (given) {
    case submission_inbox::place::taken: return answer::entered;
    case submission_inbox::place::none: return answer::full;
    default: return answer::closed;
  }
}

submit_waiter& waiter_at(line_place& at) noexcept { return static_cast<submit_waiter&>(at); }

}  // namespace

submission_queue::~submission_queue() {
  while (take() != nullptr) continue;  // only such as have left are there
  left_items::release_all(left_.take_found());
}

void submission_queue::append(joinable_root& item, int priority) {
  item.set_queue_place(place::queued);
  if (!order_.by_priority()) gather();  // what is there came before it
  order_.add(item, priority);
}

void submission_queue::gather() noexcept {
  if (inbox_.empty()) return;
  // Relaxed: published by the exchange, for whoever sees that the inbox is empty.
  if (order_.empty()) available_.store(1, std::memory_order_relaxed);
  for (job* each = inbox_.take_all(); each != nullptr;) {
    job* const next = each->next;
    order_.add_newest(*each);
    each = next;
  }
}

joinable_root* submission_queue::take() noexcept {
  while (true) {
    if (order_.empty()) gather();  // nothing enters a priority queue that way
    joinable_root* const item = order_.take();
    if (item == nullptr) return nullptr;
    if (item->queue_place() == place::queued) [[likely]] {
      item->set_queue_place(place::none);
      return item;
    }
    left_.found(*item);
  }
}

void submission_queue::publish() noexcept {
  // A rendezvous has no places: whoever waits is what a worker finds.
  const std::size_t now = capacity_ == 0 ? line_.size() : order_.size();
  const std::size_t before = available_.load(std::memory_order_relaxed);
  // parking/post, submissions/gather. Between other values whoever looks sees one of them that is
  // not 0, or comes in vain.
  const bool appears = before == 0 && now != 0;
  available_.store(now, appears ? std::memory_order_seq_cst : std::memory_order_release);
}

answer submission_queue::offer(joinable_root& item, int priority, bool& alone) {
  if (order_.by_priority()) {
    const std::lock_guard guard(lock_);
    order_.make_room();  // before it has a place: somebody may wait for that already
    const answer given = answer_to(inbox_.reserve());
    if (given != answer::entered) return given;
    alone = order_.empty();
    append(item, priority);
    publish();
    return given;
  }
  const answer given = answer_to(inbox_.reserve());
  if (given == answer::entered) {
    item.set_queue_place(place::queued);  // published by the push
    alone = inbox_.push(item);
  }
  return given;
}

answer submission_queue::displace(joinable_root& item, int priority, joinable_root*& dropped) {
  while (true) {
    job* swept = nullptr;
    bool entered = false;
    {
      const std::lock_guard guard(lock_);
      const submission_inbox::place mine = inbox_.reserve();
      if (mine == submission_inbox::place::closed) return answer::closed;
      dropped = mine == submission_inbox::place::none ? take() : nullptr;
      entered = mine == submission_inbox::place::taken || dropped != nullptr;
      if (entered) {
        append(item, priority);  // into the order of a bounded queue: throws nothing
        publish();
      }
      swept = left_.take_found();
    }
    left_items::release_all(swept);
    if (entered) return answer::entered;
    std::this_thread::yield();  // submissions/not_yet: whoever has the places is about to push
  }
}

bool submission_queue::enter_or_wait(submit_waiter& waiter) noexcept {
  using state = submit_waiter::state;
  const std::lock_guard guard(lock_);
  if (waiter.state_ != state::idle) return false;  // a stopper was first
  if (closed_) {
    waiter.state_ = state::refused;
    return false;
  }
  if (line_.empty()) {
    try {
      order_.make_room();
    } catch (const std::bad_alloc&) {
      waiter.state_ = state::no_memory;
      return false;
    }
    if (inbox_.reserve() == submission_inbox::place::taken) {
      append(*waiter.block_, waiter.priority_);
      waiter.state_ = state::entered;
      publish();
      return false;
    }
  }
  waiter.state_ = state::queued;
  line_.push(waiter);
  publish();
  return true;
}

submit_waiter& submission_queue::grant() noexcept {
  submit_waiter& granted = waiter_at(line_.take_oldest());
  granted.state_ = submit_waiter::state::entered;
  return granted;
}

bool submission_queue::stop_waiting(submit_waiter& waiter) noexcept {
  using state = submit_waiter::state;
  const std::lock_guard guard(lock_);
  const state before = waiter.state_;
  if (before == state::queued) {
    line_.take_out(waiter);
    publish();
  } else if (before != state::idle) {
    return false;  // it has its place, or its refusal
  }
  waiter.state_ = state::stopped;
  return before == state::queued;
}

job* submission_queue::pop_available() noexcept {
  joinable_root* item = nullptr;
  submit_waiter* granted = nullptr;
  job* swept = nullptr;
  {
    const std::lock_guard guard(lock_);
    item = take();
    if (!line_.empty() && (item != nullptr || capacity_ == 0)) {
      granted = &grant();
      if (item == nullptr) {
        item = granted->block_;  // hand to hand
      } else {
        append(*granted->block_, granted->priority_);  // into the place of what was taken
      }
    } else if (item != nullptr) {
      inbox_.give_back();
      if (!left_.empty()) [[unlikely]]
        sweep_if_due();
    }
    publish();
    swept = left_.take_found();
  }
  if (granted != nullptr)
    granted->finish();  // it waits for this call, or for the stopper's after it
  left_items::release_all(swept);
  return item;
}

submission_queue::leaving submission_queue::leave(joinable_root& item) noexcept {
  submit_waiter* granted = nullptr;
  job* swept = nullptr;
  {
    const std::lock_guard guard(lock_);
    if (item.queue_place() != place::queued) return leaving::not_here;
    left_.add(item);
    if (!line_.empty()) {
      try {
        order_.make_room();
      } catch (const std::bad_alloc&) {
        sweep();  // at least this one makes room
      }
      granted = &grant();
      append(*granted->block_, granted->priority_);
    } else {
      inbox_.give_back();
    }
    sweep_if_due();
    publish();
    swept = left_.take_found();
  }
  if (granted != nullptr) granted->finish();  // as in pop_available()
  left_items::release_all(swept);
  return granted != nullptr ? leaving::passed_on : leaving::left;
}

void submission_queue::sweep_if_due() noexcept {
  if (left_.is_sweep_due(inbox_.size())) sweep();
}

void submission_queue::sweep() noexcept {
  if (!order_.by_priority()) gather();
  order_.sweep(left_);
}

void submission_queue::close() noexcept {
  line_place* refused = nullptr;
  {
    const std::lock_guard guard(lock_);
    closed_ = true;
    inbox_.close();
    refused = line_.take_all();
    for (line_place* each = refused; each != nullptr; each = waiter_line::after(*each)) {
      waiter_at(*each).state_ = submit_waiter::state::refused;
    }
    publish();
  }
  while (refused != nullptr) {
    // Its links are nobody else's any more, and it waits for this call.
    line_place* const next = waiter_line::after(*refused);
    waiter_at(*refused).finish();
    refused = next;
  }
}

joinable_root* submission_queue::take_unstarted() noexcept {
  while (true) {
    joinable_root* item = nullptr;
    job* swept = nullptr;
    bool none_left = false;
    {
      const std::lock_guard guard(lock_);
      item = take();
      if (item != nullptr) inbox_.give_back();
      publish();
      none_left = inbox_.size() == 0;
      swept = left_.take_found();
    }
    left_items::release_all(swept);
    if (item != nullptr || none_left) return item;
    std::this_thread::yield();  // submissions/not_yet: whoever has the place is about to push
  }
}

}  // namespace tandem::inline v0::detail
