// item_order.hpp: in which order the items of a submission queue are taken.
// SPDX-License-Identifier: MIT
//
// The oldest first, or, in a priority queue, the most urgent first and the oldest among equals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tandem/job.hpp>
#include <tandem/spawn.hpp>
#include <tandem/submission_options.hpp>

#include "submit/left_items.hpp"

namespace tandem::inline v0::detail {

/// Under the lock of the queue.
class item_order {
 public:
  explicit item_order(queue_kind kind) noexcept : by_priority_(kind == queue_kind::priority) {}

  bool by_priority() const noexcept { return by_priority_; }
  std::size_t size() const noexcept { return by_priority_ ? ranked_.size() : in_order_.size(); }
  bool empty() const noexcept { return by_priority_ ? ranked_.empty() : in_order_.empty(); }

  /// For one more. @throws std::bad_alloc (priority queues)
  void make_room() {
    if (!by_priority_ || ranked_.size() < ranked_.capacity()) return;
    ranked_.reserve(std::max(std::size_t{16}, 2 * ranked_.size()));
  }
  /// pre: there is room.
  void add(joinable_root& item, int priority) {
    if (!by_priority_) return add_newest(item);
    ranked_.push_back(ranked{priority, next_number_, &item});
    ++next_number_;
    std::push_heap(ranked_.begin(), ranked_.end());
  }
  /// pre: it is no priority queue.
  void add_newest(job& item) noexcept { in_order_.push_back(&item); }
  /// Null if there is none. It may have left its place.
  joinable_root* take() noexcept {
    if (by_priority_) return take_most_urgent();
    auto* const item = static_cast<joinable_root*>(in_order_.pop_front());
    prefetch(in_order_.front());
    return item;
  }
  /// submissions/sweep. Those that have left are found, the others stay as they were. Cold.
  void sweep(left_items& left) noexcept {
    if (by_priority_) return sweep_ranked(left);
    for (job_list all = std::exchange(in_order_, {}); job* const each = all.pop_front();) {
      auto& item = static_cast<joinable_root&>(*each);
      if (left_items::has_left(item)) {
        left.found(item);
      } else {
        in_order_.push_back(each);
      }
    }
  }

 private:
  struct ranked {
    int priority;
    std::uint64_t number;  // in the order of entering
    joinable_root* item;
    /// For a heap with the most urgent on top.
    bool operator<(const ranked& other) const noexcept {
      return priority != other.priority ? priority < other.priority : number > other.number;
    }
  };

  /// What another CPU has made: all lines of its block come while the item before it runs.
  static void prefetch(const job* next) noexcept {
    if (next == nullptr) return;
    const char* const block = reinterpret_cast<const char*>(next);  // NOLINT
    for (std::size_t line = 0; line < sizeof(spawned<void>); line += 64) {
      TANDEM_PREFETCH_TO_WRITE(block + line);
    }
  }
  joinable_root* take_most_urgent() noexcept {
    if (ranked_.empty()) return nullptr;
    std::pop_heap(ranked_.begin(), ranked_.end());
    joinable_root* const item = ranked_.back().item;
    ranked_.pop_back();
    return item;
  }
  void sweep_ranked(left_items& left) noexcept {
    const auto gone = std::partition(ranked_.begin(), ranked_.end(), [](const ranked& each) {
      return !left_items::has_left(*each.item);
    });
    for (auto each = gone; each != ranked_.end(); ++each) left.found(*each->item);
    ranked_.erase(gone, ranked_.end());
    std::make_heap(ranked_.begin(), ranked_.end());
  }

  const bool by_priority_;
  job_list in_order_;           // unless by priority
  std::vector<ranked> ranked_;  // by priority: a heap
  std::uint64_t next_number_ = 0;
};

}  // namespace tandem::inline v0::detail
