// decision_log.hpp: the last decisions of a pool.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

#include <tandem/pool_decision.hpp>

namespace tandem::inline v0::detail {

/// Any thread.
class decision_log {
 public:
  static constexpr std::size_t capacity = 200;

  /// Of two threads that decide at once the one that read the clock first may come second: `when` never goes back.
  void add(pool_decision decision) noexcept {
    const std::lock_guard lock(lock_);
    if (count_ != 0) decision.when = (std::max)(decision.when, ring_[(count_ - 1) % capacity].when);
    ring_[count_++ % capacity] = decision;
    ++counts_[static_cast<std::size_t>(decision.action)][static_cast<std::size_t>(decision.reason)];
  }
  /// Of all that were ever added.
  decision_counts counts() const noexcept {
    const std::lock_guard lock(lock_);
    return counts_;
  }
  /// Oldest first. @throws std::bad_alloc
  std::vector<pool_decision> copy() const {
    std::vector<pool_decision> out;
    const std::lock_guard lock(lock_);
    const std::size_t first = count_ > capacity ? count_ - capacity : 0;
    out.reserve(count_ - first);
    for (std::size_t i = first; i < count_; ++i) out.push_back(ring_[i % capacity]);
    return out;
  }

 private:
  mutable std::mutex lock_;
  std::array<pool_decision, capacity> ring_{};  // guarded by lock_
  std::size_t count_ = 0;                       // ever added; guarded by lock_
  decision_counts counts_{};                    // guarded by lock_
};

}  // namespace tandem::inline v0::detail
