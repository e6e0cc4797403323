// retry.hpp: runs a task again if it has failed, after a delay that grows.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0 {

/// How the delay before an attempt is spread, so that many clients do not come back at once.
enum class retry_jitter : std::uint8_t {
  none,
  equal,  ///< half of the delay, and up to as much again
  full,   ///< anything from nothing to the delay
};

/// What many calls may spend on retries together, so that a service that is down is not asked
/// several times as often as one that is up: each retry costs a token, and each call that succeeds
/// brings a part of one. When there is none, a failure is passed on at once.
///
///     tandem::retry_budget budget(10, 0.1);  // shared by all calls of one client
///     auto page = co_await tandem::retry([&] { return fetch(url); },
///                                        tandem::retry_options().budget(budget));
///
/// @thread_safety  all members from any thread
/// @source         gRPC's retry throttling (proposal "client retries"), Finagle's RetryBudget
class TANDEM_API retry_budget {
 public:
  /// Full at first.
  ///
  /// @param most         tokens that are kept, at most
  /// @param per_success  what a success brings, in thousandths of a token
  /// @throws             std::invalid_argument if `most` is 0 or above 1,000,000, or `per_success`
  ///                     not within 0 and `most`
  explicit retry_budget(unsigned most = 10, double per_success = 0.1);
  retry_budget(const retry_budget&) = delete;
  retry_budget& operator=(const retry_budget&) = delete;

  /// @returns  whether there was a token, which has been taken
  bool try_spend() noexcept;
  void note_success() noexcept;
  /// Whole tokens that are left.
  unsigned available() const noexcept;

  // Implementation
 private:
  const std::uint32_t most_;  // all in thousandths of a token
  const std::uint32_t per_success_;
  std::atomic<std::uint32_t> left_;  // guards nothing else: relaxed
};

/// When retry() tries again.
///
///     auto options = tandem::retry_options().attempts(5).initial_delay(20ms).max_delay(1s);
///
/// @thread_safety  as a value
class TANDEM_API retry_options {
 public:
  using duration = std::chrono::steady_clock::duration;
  using predicate = std::function<bool(const std::exception_ptr&)>;

  /// Three attempts; 100 ms, doubling up to 10 s, full jitter; any failure.
  retry_options() noexcept;
  retry_options(const retry_options&);
  retry_options(retry_options&&) noexcept;
  retry_options& operator=(const retry_options&);
  retry_options& operator=(retry_options&&) noexcept;
  ~retry_options();

  /// In all, the first one included. @throws std::invalid_argument for 0
  retry_options& attempts(unsigned count);
  /// Before the second attempt. Negative is none.
  retry_options& initial_delay(duration delay) noexcept;
  /// By which the delay grows each time. @throws std::invalid_argument below 1
  retry_options& factor(double growth);
  retry_options& max_delay(duration delay) noexcept;
  retry_options& jitter(retry_jitter kind) noexcept;
  /// Which failures are worth another attempt; empty: all.
  retry_options& when(predicate worth_it);
  /// What retries cost. It has to outlive the calls.
  retry_options& budget(retry_budget& shared) noexcept;

  // Implementation
  /// After attempt number `attempt`, counted from 1. If so, the budget has been charged.
  bool tries_again(unsigned attempt, const std::exception_ptr& failure) const;
  duration delay_after(unsigned attempt) const noexcept;
  void note_success() const noexcept {
    if (budget_ != nullptr) budget_->note_success();
  }

 private:
  unsigned attempts_ = 3;
  duration initial_ = std::chrono::milliseconds(100);
  double factor_ = 2;
  duration max_ = std::chrono::seconds(10);
  retry_jitter jitter_ = retry_jitter::full;
  predicate when_;
  retry_budget* budget_ = nullptr;
};

namespace detail {

/// The delay was cut short by a stop, which is what comes out: the last failure is reported.
TANDEM_API void report_last_failure(const std::exception_ptr& failure) noexcept;

template <class T, class Make>
task<T> run_retry(Make make, retry_options options) {
  for (unsigned attempt = 1;; ++attempt) {
    std::exception_ptr failure;
    try {
      auto inner = as_task(std::invoke(make)).operator co_await();
      co_await wait_for(inner);
      failure = inner.await_failure();
      if (failure == nullptr) {
        options.note_success();
        co_return inner.await_resume();
      }
    } catch (...) {
      failure = std::current_exception();
    }
    if (!options.tries_again(attempt, failure)) co_await pass_on(std::move(failure));
    const auto delay = options.delay_after(attempt);
    std::exception_ptr stopped;
    try {
      if (delay > delay.zero()) {
        auto pause = sleep_for(delay).operator co_await();
        co_await wait_for(pause);
        stopped = pause.await_failure();
        if (stopped == nullptr) pause.await_resume();
      } else {
        auto turn = yield();
        co_await wait_for(turn);
        stopped = turn.await_failure();
      }
    } catch (...) {
      stopped = std::current_exception();
    }
    if (stopped != nullptr) {
      report_last_failure(failure);
      co_await pass_on(std::move(stopped));
    }
  }
}

}  // namespace detail

/// Runs `make_task()`, again and again until one of the tasks succeeds.
///
///     auto page = co_await tandem::with_timeout(
///         5s, tandem::retry([&] { return fetch(url); }, tandem::retry_options().attempts(4)));
///
/// @param make_task  called once for each attempt. With g++ 12 a lambda that captures objects with
///                   destructors needs a name
/// @returns          a task with the value of the attempt that succeeded
/// @throws           the last failure; operation_cancelled if a stop came during a delay (the last
///                   failure then goes to runtime_options::on_suppressed_exception)
/// @cancellation     nothing is tried again once the caller was stopped. A cancellation by a time
///                   limit inside the attempt is a failure like any other
/// @resumes_on       the caller's home
/// @cost             one frame; a timer for each delay
template <class Make>
  requires detail::combinable<std::invoke_result_t<std::decay_t<Make>&>>
auto retry(Make&& make_task, retry_options options = {}) {
  static_assert(
      detail::safe_in_co_await<Make&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, "
      "or capture by reference");
  using value = detail::awaited_t<std::invoke_result_t<std::decay_t<Make>&>>;
  return detail::run_retry<value, std::decay_t<Make>>(std::forward<Make>(make_task),
                                                      std::move(options));
}

}  // namespace tandem::inline v0
