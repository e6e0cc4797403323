// wait_group.hpp: a count of what is under way, which tasks wait for to be zero.
// SPDX-License-Identifier: MIT
//
// Word: the value is the count (detail/lock_word.hpp).
#pragma once

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/count_awaiter.hpp>
#include <tandem/timeout.hpp>

namespace tandem::inline v0 {

class wait_group;

/// One unit of a wait_group; done() when it goes.
class [[nodiscard]] wait_group_token {
 public:
  wait_group_token() noexcept = default;
  wait_group_token(wait_group_token&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  wait_group_token& operator=(wait_group_token&& other) noexcept {
    wait_group_token moved(std::move(other));
    std::swap(of_, moved.of_);
    return *this;
  }
  ~wait_group_token() { done(); }

  explicit operator bool() const noexcept { return of_ != nullptr; }
  /// Early; nothing if it is empty.
  void done() noexcept;

  // Implementation
  explicit wait_group_token(wait_group& counted) noexcept : of_(&counted) {}

 private:
  wait_group* of_ = nullptr;
};

/// Counts what has begun and ended. Unlike a latch it may be used again, and need not know the
/// count.
///
///     tandem::wait_group requests;
///     tandem::spawn(serve(connection, requests.token()));
///     ...
///     if (!co_await requests.wait_for(5s)) report(requests.count());
///
/// It may be destroyed as soon as a wait has returned, if nobody else waits or will count.
///
/// @thread_safety  all members from any thread; add() from zero while somebody waits is allowed:
///                 those that were let go stay free
class TANDEM_API wait_group {
 public:
  explicit wait_group(std::size_t count = 0) noexcept : count_(count) {}
  wait_group(const wait_group&) = delete;
  wait_group& operator=(const wait_group&) = delete;

  void add(std::size_t n = 1) noexcept { count_.add(n); }
  /// Asserts that the count does not go below zero. @cost  one CAS; the last one posts the waiters
  void done() noexcept { count_.subtract(1); }
  std::size_t count() const noexcept { return count_.value(); }

  /// add(), with a done() when the token goes.
  wait_group_token token() noexcept {
    add();
    return wait_group_token(*this);
  }

  /// Waits until the count is zero.
  ///
  /// @throws         operation_cancelled if a stop comes while it waits, or came before
  /// @cancellation   may lose the race and return normally; one that is ready may go through in a
  ///                 stopped task, up to 128 in a row
  /// @resumes_on     the caller's home
  /// @cost           one load if it is zero; no allocation
  detail::count_awaiter wait() noexcept { return detail::count_awaiter(count_); }

  /// As wait(), for at most `limit`.
  ///
  /// @returns  whether the count was zero in time
  /// @cost     one timer and a frame from a free list
  template <class Rep, class Period>
  timeout_awaiter<bool> wait_for(std::chrono::duration<Rep, Period> limit) {
    return with_timeout(limit, wait_until_stopped());
  }

  // Implementation
 private:
  task<bool> wait_until_stopped();

  detail::waited_count count_;
};

inline void wait_group_token::done() noexcept {
  if (of_ != nullptr) std::exchange(of_, nullptr)->done();
}

}  // namespace tandem::inline v0
