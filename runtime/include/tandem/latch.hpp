// latch.hpp: a count that goes down to zero once.
// SPDX-License-Identifier: MIT
//
// Word: the value is the count (detail/lock_word.hpp).
#pragma once

#include <coroutine>
#include <cstddef>

#include <tandem/config.hpp>
#include <tandem/detail/count_awaiter.hpp>

namespace tandem::inline v0 {

class latch_arrival;

/// Lets its waiters go when it was counted down `count` times; single use.
///
///     tandem::latch done(3);
///     for (int i = 0; i < 3; ++i) scope.spawn(part(i, done));   // done.count_down();
///     co_await done.wait();
///
/// It may be destroyed as soon as a wait has returned, if nobody else waits.
///
/// @thread_safety  all members from any thread; count_down() also outside any task
class TANDEM_API latch {
 public:
  static constexpr std::size_t max = detail::lock_word::max_value;

  explicit latch(std::size_t count) noexcept : count_(count) {}
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;

  /// Asserts that the count does not go below zero.
  ///
  /// @cost  one CAS; the last one posts the waiters
  void count_down(std::size_t n = 1) noexcept { count_.subtract(n); }

  /// @returns  whether the count is zero
  bool try_wait() const noexcept { return count_.is_zero(); }

  /// Waits until the count is zero.
  ///
  /// @throws         operation_cancelled if a stop comes while it waits, or came before
  /// @cancellation   may lose the race and return normally; one that is ready may go through in a
  ///                 stopped task, up to 128 in a row
  /// @resumes_on     the caller's home
  /// @cost           one load if it is zero; no allocation
  detail::count_awaiter wait() noexcept { return detail::count_awaiter(count_); }

  /// count_down(), then wait(). What a stopped task has counted stays counted.
  latch_arrival arrive_and_wait(std::size_t n = 1) noexcept;

  // Implementation
 private:
  friend latch_arrival;
  detail::waited_count count_;
};

/// Awaiter of latch::arrive_and_wait().
class [[nodiscard]] latch_arrival : public detail::count_awaiter {
 public:
  latch_arrival(latch& target, std::size_t n) noexcept
      : count_awaiter(target.count_), target_(&target), arriving_(n) {}

  bool await_ready() noexcept {
    target_->count_down(arriving_);
    return count_awaiter::await_ready();
  }
  bool select_try() = delete;  // a branch that loses would have arrived

 private:
  latch* target_;
  std::size_t arriving_;
};

inline latch_arrival latch::arrive_and_wait(std::size_t n) noexcept {
  return latch_arrival(*this, n);
}

}  // namespace tandem::inline v0
