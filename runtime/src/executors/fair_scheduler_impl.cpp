// fair_scheduler_impl.cpp: whose turn it is. Protocol queues: runtime/src/executors/README.md.
// SPDX-License-Identifier: MIT
#include "executors/fair_scheduler_impl.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "executors/fair_queue_impl.hpp"

namespace tandem::inline v0 {

namespace {

/// What a turn costs a queue of weight 1, in virtual time. Divisible by all numbers up to 16.
constexpr std::uint64_t whole_turn = 720'720;

}  // namespace

struct fair_scheduler::impl::is_later {
  bool operator()(const fair_queue::impl* a, const fair_queue::impl* b) const noexcept {
    const auto distance = static_cast<std::int64_t>(a->tag - b->tag);
    return distance != 0 ? distance > 0 : a->sequence > b->sequence;
  }
};

void fair_scheduler::impl::queue_made() {
  const std::lock_guard held(lock());
  if (busy_.capacity() == made_) busy_.reserve(std::max<std::size_t>(8, made_ * 2));
  ++made_;
  open_.fetch_add(1, std::memory_order_relaxed);
}

void fair_scheduler::impl::queue_ended() noexcept {
  if (is_parents()) return;
  const std::lock_guard held(lock());
  --made_;
}

void fair_scheduler::impl::filled(detail::ordered_queue& queue) noexcept {
  auto& fresh = static_cast<fair_queue::impl&>(queue);
  // What it was charged last still counts; that lies ahead by no more than a turn. Anything else is
  // long ago: it starts now, with nothing saved up.
  if (fresh.tag - virtual_time_ > whole_turn) fresh.tag = virtual_time_;
  fresh.sequence = ++sequence_;
  busy_.push_back(&fresh);
  std::push_heap(busy_.begin(), busy_.end(), is_later());
}

detail::ordered_queue& fair_scheduler::impl::choose() noexcept { return *busy_.front(); }

void fair_scheduler::impl::taken(detail::ordered_queue& queue) noexcept {
  auto& served = static_cast<fair_queue::impl&>(queue);
  std::pop_heap(busy_.begin(), busy_.end(), is_later());
  virtual_time_ = served.tag;
  served.tag += whole_turn / served.weight();
  served.sequence = ++sequence_;
  if (served.waiting() == 0) {
    busy_.pop_back();
  } else {
    std::push_heap(busy_.begin(), busy_.end(), is_later());
  }
}

}  // namespace tandem::inline v0
