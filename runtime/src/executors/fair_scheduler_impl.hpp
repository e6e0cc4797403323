// fair_scheduler_impl.hpp: whose turn it is among the queues of a fair_scheduler.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tandem/fair_scheduler.hpp>

#include "executors/ordered_scheduler.hpp"

namespace tandem::inline v0 {

/// Virtual time is the start tag of the item taken last. A queue's tag is where its next item
/// starts; taking it moves the tag on by a turn over the weight. The lowest tag goes next, among
/// equals the one that waits longest.
class fair_scheduler::impl final : public detail::ordered_scheduler {
 public:
  explicit impl(tandem::executor& below) : detail::ordered_scheduler(below, "fair_scheduler") {}

  std::size_t queue_count() const noexcept { return open_.load(std::memory_order_relaxed); }

  // The life of queues.
  void queue_made();
  void queue_left() noexcept { open_.fetch_sub(1, std::memory_order_relaxed); }
  void queue_ended() noexcept;

 private:
  struct is_later;

  void filled(detail::ordered_queue& queue) noexcept override;
  detail::ordered_queue& choose() noexcept override;
  void taken(detail::ordered_queue& queue) noexcept override;

  std::atomic<std::size_t> open_{0};  // queues that are not gone
  // Under the lock.
  std::size_t made_ = 0;            // queues whose memory is there
  std::uint64_t virtual_time_ = 0;  // wraps: tags are compared by their distance
  std::uint64_t sequence_ = 0;
  std::vector<fair_queue::impl*> busy_;  // a heap; has room for all queues
};

}  // namespace tandem::inline v0
