// waiter_line.hpp: those that wait for a place in a queue, the oldest first. Step submissions/wait.
// SPDX-License-Identifier: MIT
//
// A list through the waiters themselves, so that nobody needs memory to wait, and any of them can
// leave it. It knows neither why one waits nor what becomes of it: that is the queue's.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include <tandem/detail/line_place.hpp>

namespace tandem::inline v0::detail {

/// Under the lock of the queue, but for size().
class waiter_line {
 public:
  waiter_line() noexcept = default;
  waiter_line(const waiter_line&) = delete;
  waiter_line& operator=(const waiter_line&) = delete;

  bool empty() const noexcept { return oldest_ == nullptr; }
  /// Any thread; at about one moment.
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  void push(line_place& waiter) noexcept {
    waiter.previous_ = newest_;
    waiter.next_ = nullptr;
    (newest_ != nullptr ? newest_->next_ : oldest_) = &waiter;
    newest_ = &waiter;
    size_.fetch_add(1, std::memory_order_relaxed);
  }
  /// pre: it is in the line.
  void take_out(line_place& waiter) noexcept {
    (waiter.previous_ != nullptr ? waiter.previous_->next_ : oldest_) = waiter.next_;
    (waiter.next_ != nullptr ? waiter.next_->previous_ : newest_) = waiter.previous_;
    size_.fetch_sub(1, std::memory_order_relaxed);
  }
  /// pre: it is not empty.
  line_place& take_oldest() noexcept {
    line_place& oldest = *oldest_;
    take_out(oldest);
    return oldest;
  }
  /// Ends the line. @returns the oldest, or null; the others by after(), also without the lock:
  /// their links are the caller's from now on
  line_place* take_all() noexcept {
    size_.store(0, std::memory_order_relaxed);
    newest_ = nullptr;
    return std::exchange(oldest_, nullptr);
  }
  static line_place* after(const line_place& waiter) noexcept { return waiter.next_; }

 private:
  line_place* oldest_ = nullptr;
  line_place* newest_ = nullptr;
  std::atomic<std::size_t> size_{0};  // written under the lock
};

}  // namespace tandem::inline v0::detail
