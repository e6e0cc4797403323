// left_items.hpp: items that have left their place and still lie in the queue. Step submissions/sweep.
// SPDX-License-Identifier: MIT
//
// An item does not know its neighbours, so it cannot be taken out of the middle. It is marked, kept
// by a reference, and found again: by whoever comes to it, or by a walk once too many have left.
// Those that were found form a chain, which is released without the lock, since a block's end runs
// code of the user's.
#pragma once

#include <cstddef>
#include <utility>

#include <tandem/job.hpp>
#include <tandem/spawn.hpp>

namespace tandem::inline v0::detail {

/// Under the lock of the queue, but for release_all().
class left_items {
 public:
  left_items() noexcept = default;
  left_items(const left_items&) = delete;
  left_items& operator=(const left_items&) = delete;

  static bool has_left(const joinable_root& item) noexcept {
    return item.queue_place() == joinable_root::place::left;
  }

  bool empty() const noexcept { return count_ == 0; }
  /// It leaves its place.
  void add(joinable_root& item) noexcept {
    item.set_queue_place(joinable_root::place::left);
    item.keep();
    ++count_;
  }
  /// Whether so many have left that a walk is worth it: those that have pay for it.
  bool is_sweep_due(std::size_t there) const noexcept {
    return count_ > there + (there != 0 ? fewest_to_sweep : 0);
  }
  /// It has left, and is out of the lists now, too.
  void found(joinable_root& item) noexcept {
    --count_;
    item.next = std::exchange(found_, &item);
  }
  /// Those that were found since the last call, by `next`: for release_all().
  job* take_found() noexcept { return std::exchange(found_, nullptr); }

  /// Without the lock.
  static void release_all(job* found) noexcept {
    while (found != nullptr) {
      job* const next = found->next;
      static_cast<joinable_root*>(found)->release();
      found = next;
    }
  }

 private:
  static constexpr std::size_t fewest_to_sweep = 16;

  std::size_t count_ = 0;  // that lie in the lists
  job* found_ = nullptr;
};

}  // namespace tandem::inline v0::detail
