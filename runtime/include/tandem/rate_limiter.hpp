// rate_limiter.hpp: so many per time: a token bucket that tasks wait for.
// SPDX-License-Identifier: MIT
//
// Those that wait stand in line for a mutex; whoever has it sleeps until its tokens are there, in
// its own runtime. So nothing runs, and no timer is armed, while nobody waits. Tokens are counted in
// whole numbers of (tokens x nanoseconds of the period), so none are lost by rounding.
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>

#include <tandem/config.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/mutex.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

class rate_limiter_awaiter;

/// Limits how often something is done: `count` tokens come each `period`, one after the other, and
/// up to `burst` of them are kept.
///
///     tandem::rate_limiter calls(100, 1s, 10);  // 100 a second; 10 at once after a pause
///     for (const auto& each : all) {
///       co_await calls.acquire();
///       scope.spawn(call(each));
///     }
///
/// Fair: those that wait get their tokens in the order in which they came, and while somebody waits
/// nobody overtakes. Time is that of the tasks that ask (tandem::now()): by a virtual clock it is
/// exact. Tasks of several runtimes may share one, if their clocks are real.
///
/// @thread_safety  all members from any thread
class TANDEM_API rate_limiter {
 public:
  using duration = std::chrono::steady_clock::duration;
  using time_point = std::chrono::steady_clock::time_point;

  /// Full at first.
  ///
  /// @throws  std::invalid_argument if one of them is not above 0, or if (burst x period in
  ///          nanoseconds) is beyond 2^62
  rate_limiter(std::size_t count, duration period, std::size_t burst);
  rate_limiter(const rate_limiter&) = delete;
  rate_limiter& operator=(const rate_limiter&) = delete;
  ~rate_limiter();

  std::size_t burst() const noexcept { return static_cast<std::size_t>(burst_); }
  /// Tokens that are there now; others may take them at the same time.
  std::size_t available() noexcept;

  /// Takes tokens if they are there, and nobody waits.
  ///
  /// @throws  std::invalid_argument for more than burst(), which never are there
  bool try_acquire(std::size_t tokens = 1);

  /// Waits for tokens, and takes them.
  ///
  /// @throws         std::invalid_argument for more than burst(), at the call; operation_cancelled
  ///                 if a stop comes while it waits, or came before: then it has taken none, and
  ///                 those behind it move up; as sleep_for(); std::bad_alloc
  /// @cancellation   may lose the race and return normally; one that is ready may go through in a
  ///                 stopped task, up to 128 in a row
  /// @resumes_on     the caller's home
  /// @cost           two short locks and a look at the clock if they are there; to wait: a frame
  ///                 from a free list, and a timer for whoever is the first in line
  rate_limiter_awaiter acquire(std::size_t tokens = 1);

  // Implementation
 private:
  friend rate_limiter_awaiter;
  std::int64_t cost_of(std::size_t tokens) const;
  bool try_take(std::int64_t cost) noexcept;
  /// @returns  when the tokens are there; null: they have been taken
  std::optional<time_point> take_or_wait_until(std::int64_t cost) noexcept;
  void refill(time_point now) noexcept;
  task<void> wait_in_line(std::int64_t cost);

  // In units: one token is period_ of them, and count_ of them come each nanosecond.
  const std::int64_t count_;
  const std::int64_t period_;
  const std::int64_t burst_;  // tokens
  detail::futex_mutex lock_;  // of the three below
  bool has_begun_ = false;    // as_of_ is a time: clocks are those of tasks
  std::int64_t level_;
  time_point as_of_;
  std::atomic<std::uint32_t> waiting_{0};  // in line
  mutex line_;
};

/// Awaiter of rate_limiter::acquire().
class [[nodiscard]] TANDEM_API rate_limiter_awaiter {
 public:
  using tandem_awaiter = void;

  rate_limiter_awaiter(rate_limiter& from, std::int64_t cost) noexcept
      : from_(&from), cost_(cost) {}
  /// For an awaiter that has not started.
  rate_limiter_awaiter(rate_limiter_awaiter&& other) noexcept
      : from_(other.from_), cost_(other.cost_) {}
  rate_limiter_awaiter& operator=(rate_limiter_awaiter&&) = delete;
  ~rate_limiter_awaiter() = default;

  bool await_ready() noexcept {
    if (detail::must_stop() || !from_->try_take(cost_)) return false;
    gives_way_ = !detail::charge_ready_await();
    return !gives_way_;
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    if (gives_way_) {
      detail::yield_for_budget(self.promise());
      return true;
    }
    waits_.emplace(from_->wait_in_line(cost_).operator co_await());
    return waits_->await_suspend(self);
  }
  std::exception_ptr await_failure() noexcept { return waits_ ? waits_->await_failure() : nullptr; }
  void await_resume() {
    if (waits_) waits_->await_resume();
  }

  // Implementation
 private:
  rate_limiter* from_;
  std::int64_t cost_;
  bool gives_way_ = false;
  std::optional<task<void>::awaiter> waits_;
};

}  // namespace tandem::inline v0
