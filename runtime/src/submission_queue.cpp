// submission_queue.cpp: entering, waiting for a place, and leaving.
// SPDX-License-Identifier: MIT
#include "submission_queue.hpp"

#include <algorithm>
#include <new>

namespace tandem::inline v0::detail {

using answer = submission_queue::answer;

namespace {

/// What another CPU has made: all lines of its block come while the item before it runs.
void prefetch(const job* next) noexcept {
  const char* const block = reinterpret_cast<const char*>(next);  // NOLINT
  for (std::size_t line = 0; line < sizeof(spawned<void>); line += 64) {
    __builtin_prefetch(block + line, 1);
  }
}

}  // namespace

void submission_queue::push(joinable_root& item, int priority) {
  if (kind_ == queue_kind::priority) {
    ranked_.push_back(ranked{priority, next_number_, &item});
    ++next_number_;
    std::push_heap(ranked_.begin(), ranked_.end());
  } else {
    in_order_.push_back(&item);
  }
  add(queued_, 1);
}

joinable_root* submission_queue::take() noexcept {
  joinable_root* item = nullptr;
  if (kind_ == queue_kind::priority) {
    if (ranked_.empty()) return nullptr;
    std::pop_heap(ranked_.begin(), ranked_.end());
    item = ranked_.back().item;
    ranked_.pop_back();
  } else {
    item = static_cast<joinable_root*>(in_order_.pop_front());
    if (item == nullptr) return nullptr;
    prefetch(in_order_.front());
  }
  add(queued_, std::size_t{0} - 1);
  return item;
}

void submission_queue::publish() noexcept {
  // A rendezvous has no places: who waits is what a worker finds.
  const std::size_t queued = queued_.load(std::memory_order_relaxed);  // under the lock
  const std::size_t direct = capacity_ == 0 ? waiting_.load(std::memory_order_relaxed) : 0;
  const std::size_t before = available_.load(std::memory_order_relaxed);
  // P1, U9. Between other values whoever looks sees one of them that is not 0, or comes in vain.
  const bool appears = before == 0 && queued + direct != 0;
  available_.store(queued + direct,
                   appears ? std::memory_order_seq_cst : std::memory_order_release);
}

answer submission_queue::offer(joinable_root& item, int priority, bool& alone) {
  // U9. Without the lock: it was full at that moment, and as long as somebody waits it is (U5).
  if (available_.load(std::memory_order_acquire) >= capacity_) return answer::full;
  const std::lock_guard guard(lock_);
  if (closed_) return answer::closed;
  const std::size_t before = queued_.load(std::memory_order_relaxed);
  if (oldest_ != nullptr || before >= capacity_) return answer::full;
  alone = before == 0;
  push(item, priority);
  publish();
  return answer::entered;
}

answer submission_queue::displace(joinable_root& item, int priority, joinable_root*& dropped) {
  const std::lock_guard guard(lock_);
  dropped = nullptr;
  if (closed_) return answer::closed;
  if (queued_.load(std::memory_order_relaxed) >= capacity_) dropped = take();
  push(item, priority);  // into the order of a bounded queue: throws nothing
  publish();
  return answer::entered;
}

bool submission_queue::enter_or_wait(submit_waiter& waiter) noexcept {
  using state = submit_waiter::state;
  const std::lock_guard guard(lock_);
  if (waiter.state_ != state::idle) return false;  // a stopper was first
  if (closed_) {
    waiter.state_ = state::refused;
    return false;
  }
  if (oldest_ == nullptr && queued_.load(std::memory_order_relaxed) < capacity_) {
    try {
      push(*waiter.block_, waiter.priority_);
      waiter.state_ = state::entered;
      publish();
    } catch (const std::bad_alloc&) {
      waiter.state_ = state::no_memory;
    }
    return false;
  }
  waiter.state_ = state::queued;
  waiter.previous_waiter_ = newest_;
  waiter.next_waiter_ = nullptr;
  (newest_ != nullptr ? newest_->next_waiter_ : oldest_) = &waiter;
  newest_ = &waiter;
  add(waiting_, 1);
  publish();
  return true;
}

void submission_queue::unlink(submit_waiter& waiter) noexcept {
  (waiter.previous_waiter_ != nullptr ? waiter.previous_waiter_->next_waiter_ : oldest_) =
      waiter.next_waiter_;
  (waiter.next_waiter_ != nullptr ? waiter.next_waiter_->previous_waiter_ : newest_) =
      waiter.previous_waiter_;
  add(waiting_, std::size_t{0} - 1);
}

bool submission_queue::stop_waiting(submit_waiter& waiter) noexcept {
  using state = submit_waiter::state;
  const std::lock_guard guard(lock_);
  const state before = waiter.state_;
  if (before == state::queued) {
    unlink(waiter);
    publish();
  } else if (before != state::idle) {
    return false;  // it has its place, or its refusal
  }
  waiter.state_ = state::stopped;
  return before == state::queued;
}

job* submission_queue::pop_available() noexcept {
  using state = submit_waiter::state;
  joinable_root* item = nullptr;
  submit_waiter* granted = nullptr;
  {
    const std::lock_guard guard(lock_);
    item = take();
    if (oldest_ != nullptr && queued_.load(std::memory_order_relaxed) <= capacity_) {
      granted = oldest_;
      unlink(*granted);
      granted->state_ = state::entered;
      if (item == nullptr) {
        item = granted->block_;  // hand to hand
      } else {
        push(*granted->block_, granted->priority_);  // into the room of what was taken
      }
    }
    publish();
  }
  if (granted != nullptr)
    granted->finish();  // it waits for this call, or for the stopper's after it
  return item;
}

void submission_queue::close() noexcept {
  submit_waiter* refused = nullptr;
  {
    const std::lock_guard guard(lock_);
    closed_ = true;
    refused = oldest_;
    for (submit_waiter* each = refused; each != nullptr; each = each->next_waiter_) {
      each->state_ = submit_waiter::state::refused;
    }
    waiting_.store(0, std::memory_order_relaxed);
    oldest_ = nullptr;
    newest_ = nullptr;
    publish();
  }
  while (refused != nullptr) {
    // Its links are nobody else's any more, and it waits for this call.
    submit_waiter* const next = refused->next_waiter_;
    refused->finish();
    refused = next;
  }
}

joinable_root* submission_queue::take_unstarted() noexcept {
  const std::lock_guard guard(lock_);
  joinable_root* const item = take();
  publish();
  return item;
}

}  // namespace tandem::inline v0::detail
