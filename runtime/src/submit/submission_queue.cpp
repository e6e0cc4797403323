// submission_queue.cpp: entering, waiting for a place, and leaving.
// SPDX-License-Identifier: MIT
#include "submit/submission_queue.hpp"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

namespace tandem::inline v0::detail {

using answer = submission_queue::answer;
using place = joinable_root::place;

namespace {

/// So that a walk is worth it.
constexpr std::size_t fewest_to_sweep = 16;

/// What another CPU has made: all lines of its block come while the item before it runs.
void prefetch(const job* next) noexcept {
  if (next == nullptr) return;
  const char* const block = reinterpret_cast<const char*>(next);  // NOLINT
  for (std::size_t line = 0; line < sizeof(spawned<void>); line += 64) {
    __builtin_prefetch(block + line, 1);
  }
}

answer answer_to(submission_inbox::place given) noexcept {
  switch (given) {
    case submission_inbox::place::taken: return answer::entered;
    case submission_inbox::place::none: return answer::full;
    default: return answer::closed;
  }
}

/// Unlocked: a block's end runs code of the user's.
void release_all(job* swept) noexcept {
  while (swept != nullptr) {
    job* const next = swept->next;
    static_cast<joinable_root*>(swept)->release();
    swept = next;
  }
}

}  // namespace

submission_queue::~submission_queue() {
  while (take() != nullptr) continue;  // only such as have left are there
  release_all(take_swept());
}

void submission_queue::append(joinable_root& item, int priority) {
  item.set_queue_place(place::queued);
  if (kind_ == queue_kind::priority) {
    ranked_.push_back(ranked{priority, next_number_, &item});
    ++next_number_;
    std::push_heap(ranked_.begin(), ranked_.end());
  } else {
    gather();  // what is there came before it
    in_order_.push_back(&item);
  }
}

void submission_queue::gather() noexcept {
  if (inbox_.empty()) return;
  // Relaxed: published by the exchange, for whoever sees that the inbox is empty.
  if (in_order_.empty()) available_.store(1, std::memory_order_relaxed);
  for (job* each = inbox_.take_all(); each != nullptr;) {
    job* const next = each->next;
    in_order_.push_back(each);
    each = next;
  }
}

joinable_root* submission_queue::take() noexcept {
  while (true) {
    joinable_root* const item = take_next();
    if (item == nullptr) return nullptr;
    if (item->queue_place() == place::queued) [[likely]] {
      item->set_queue_place(place::none);
      return item;
    }
    discard(*item);
  }
}

joinable_root* submission_queue::take_next() noexcept {
  if (kind_ == queue_kind::priority) {
    if (ranked_.empty()) return nullptr;
    std::pop_heap(ranked_.begin(), ranked_.end());
    joinable_root* const item = ranked_.back().item;
    ranked_.pop_back();
    return item;
  }
  if (in_order_.empty()) gather();
  if (in_order_.empty()) return nullptr;
  auto* const item = static_cast<joinable_root*>(in_order_.pop_front());
  prefetch(in_order_.front());
  return item;
}

void submission_queue::publish() noexcept {
  // A rendezvous has no places: whoever waits is what a worker finds.
  const std::size_t now = capacity_ == 0                  ? waiting_.load(std::memory_order_relaxed)
                          : kind_ == queue_kind::priority ? ranked_.size()
                                                          : in_order_.size();
  const std::size_t before = available_.load(std::memory_order_relaxed);
  // parking/post, submissions/enter. Between other values whoever looks sees one of them that is
  // not 0, or comes in vain.
  const bool appears = before == 0 && now != 0;
  available_.store(now, appears ? std::memory_order_seq_cst : std::memory_order_release);
}

void submission_queue::make_room() {
  if (kind_ != queue_kind::priority || ranked_.size() < ranked_.capacity()) return;
  ranked_.reserve(std::max(std::size_t{16}, 2 * ranked_.size()));
}

answer submission_queue::offer(joinable_root& item, int priority, bool& alone) {
  if (kind_ == queue_kind::priority) {
    const std::lock_guard guard(lock_);
    make_room();  // before it has a place: somebody may wait for that already
    const answer given = answer_to(inbox_.reserve());
    if (given != answer::entered) return given;
    alone = ranked_.empty();
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
      swept = take_swept();
    }
    release_all(swept);
    if (entered) return answer::entered;
    std::this_thread::yield();  // submissions/enter: whoever has the places is about to push
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
  if (oldest_ == nullptr) {
    try {
      make_room();
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
  waiter.previous_waiter_ = newest_;
  waiter.next_waiter_ = nullptr;
  (newest_ != nullptr ? newest_->next_waiter_ : oldest_) = &waiter;
  newest_ = &waiter;
  waiting_.fetch_add(1, std::memory_order_relaxed);
  publish();
  return true;
}

void submission_queue::unlink(submit_waiter& waiter) noexcept {
  (waiter.previous_waiter_ != nullptr ? waiter.previous_waiter_->next_waiter_ : oldest_) =
      waiter.next_waiter_;
  (waiter.next_waiter_ != nullptr ? waiter.next_waiter_->previous_waiter_ : newest_) =
      waiter.previous_waiter_;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
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
  job* swept = nullptr;
  {
    const std::lock_guard guard(lock_);
    item = take();
    if (oldest_ != nullptr && (item != nullptr || capacity_ == 0)) {
      granted = oldest_;
      unlink(*granted);
      granted->state_ = state::entered;
      if (item == nullptr) {
        item = granted->block_;  // hand to hand
      } else {
        append(*granted->block_, granted->priority_);  // into the place of what was taken
      }
    } else if (item != nullptr) {
      inbox_.give_back();
      if (left_ != 0) [[unlikely]]
        sweep_if_due();
    }
    publish();
    swept = take_swept();
  }
  if (granted != nullptr)
    granted->finish();  // it waits for this call, or for the stopper's after it
  release_all(swept);
  return item;
}

submission_queue::leaving submission_queue::leave(joinable_root& item) noexcept {
  submit_waiter* granted = nullptr;
  job* swept = nullptr;
  {
    const std::lock_guard guard(lock_);
    if (item.queue_place() != place::queued) return leaving::not_here;
    item.set_queue_place(place::left);
    item.keep();
    ++left_;
    if (oldest_ != nullptr) {
      try {
        make_room();
      } catch (const std::bad_alloc&) {
        sweep();  // at least this one makes room
      }
      granted = oldest_;
      unlink(*granted);
      granted->state_ = submit_waiter::state::entered;
      append(*granted->block_, granted->priority_);
    } else {
      inbox_.give_back();
    }
    sweep_if_due();
    publish();
    swept = take_swept();
  }
  if (granted != nullptr) granted->finish();  // as in pop_available()
  release_all(swept);
  return granted != nullptr ? leaving::passed_on : leaving::left;
}

void submission_queue::discard(joinable_root& item) noexcept {
  --left_;
  item.next = std::exchange(swept_, &item);
}

void submission_queue::sweep_if_due() noexcept {
  const std::size_t there = inbox_.size();
  if (left_ > there + (there != 0 ? fewest_to_sweep : 0)) sweep();
}

void submission_queue::sweep() noexcept {
  const auto has_left = [](const job& each) {
    return static_cast<const joinable_root&>(each).queue_place() == place::left;
  };
  if (kind_ == queue_kind::priority) {
    const auto gone = std::partition(ranked_.begin(), ranked_.end(),
                                     [&](const ranked& each) { return !has_left(*each.item); });
    for (auto each = gone; each != ranked_.end(); ++each) discard(*each->item);
    ranked_.erase(gone, ranked_.end());
    std::make_heap(ranked_.begin(), ranked_.end());
    return;
  }
  gather();
  for (job_list all = std::exchange(in_order_, {}); job* const each = all.pop_front();) {
    if (has_left(*each)) {
      discard(static_cast<joinable_root&>(*each));
    } else {
      in_order_.push_back(each);
    }
  }
}

void submission_queue::close() noexcept {
  submit_waiter* refused = nullptr;
  {
    const std::lock_guard guard(lock_);
    closed_ = true;
    inbox_.close();
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
      swept = take_swept();
    }
    release_all(swept);
    if (item != nullptr || none_left) return item;
    std::this_thread::yield();  // submissions/enter: whoever has the place is about to push
  }
}

}  // namespace tandem::inline v0::detail
