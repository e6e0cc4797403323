// submission_inbox.hpp: the side of a submission queue where items enter: places, and what has entered last.
// SPDX-License-Identifier: MIT
//
// Places are counted by two numbers that only grow, one written by those who enter, one by those
// who take, so that they share a line only when the queue looks full. What has entered is a chain,
// the newest first, until somebody takes all of it; so whoever enters never waits for a lock.
// Steps submissions/take_place, submissions/push: runtime/src/submit/README.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tandem/detail/posted_jobs.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

class submission_inbox {
 public:
  enum class place : std::uint8_t { taken, none, closed };

  explicit submission_inbox(std::size_t capacity) noexcept : capacity_(capacity) {}

  /// Any thread. If a place is taken the item has to follow: by push(), or under the queue's lock.
  place reserve() noexcept {
    std::uint64_t entered = entered_.load(std::memory_order_relaxed);  // the CAS looks again
    while (true) {
      if ((entered & closed_bit) != 0) return place::closed;
      const std::uint64_t count = entered >> 1;
      if (count - seen_.load(std::memory_order_relaxed) >= capacity_) {
        // Acquire: pairs with give_back(). Full at this moment: `entered` is no more than it is
        // now.
        const std::uint64_t left = left_.load(std::memory_order_acquire);
        if (count - left >= capacity_ && count >= left) return place::none;
        seen_.store(left, std::memory_order_relaxed);  // any older number is right, only slower
      }
      if (entered_.compare_exchange_weak(entered, entered + 2, std::memory_order_acq_rel,
                                         std::memory_order_relaxed)) {
        return place::taken;
      }
    }
  }
  /// Any thread, after reserve(). @returns whether nothing was there before
  bool push(job& item) noexcept {
    return inbox_.push(&item, &item);  // parking/post
  }
  /// seq_cst: a sleeper's scan (parking/announce).
  bool empty() const noexcept { return inbox_.empty(); }
  /// Places that are taken; exact, and so never above the capacity.
  std::size_t size() const noexcept {
    std::uint64_t left = left_.load(std::memory_order_acquire);
    while (true) {
      const std::uint64_t entered = entered_.load(std::memory_order_acquire) >> 1;
      // What leaves between two looks, and whoever then enters in its place, would count twice.
      const std::uint64_t again = left_.load(std::memory_order_acquire);
      if (again == left) return static_cast<std::size_t>(entered - left);
      left = again;
    }
  }

  // Under the queue's lock.

  /// A place becomes free.
  void give_back() noexcept {
    left_.store(left_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  void close() noexcept { entered_.fetch_or(closed_bit, std::memory_order_seq_cst); }
  /// All that has entered, the oldest first, by `next`.
  job* take_all() noexcept { return inbox_.take_all().oldest; }

 private:
  static constexpr std::uint64_t closed_bit = 1;

  const std::size_t capacity_;
  alignas(64) std::atomic<std::uint64_t> entered_{
      0};                               // twice how many have taken a place; | closed
  std::atomic<std::uint64_t> seen_{0};  // what left_ was when somebody looked
  posted_jobs inbox_;
  alignas(64) std::atomic<std::uint64_t> left_{0};  // how many have given one back
};

}  // namespace tandem::inline v0::detail
