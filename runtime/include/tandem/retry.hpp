// retry.hpp: runs a task again if it has failed, after a delay that grows.
// SPDX-License-Identifier: MIT
#pragma once

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

  // Implementation
  /// After attempt number `attempt`, counted from 1.
  bool tries_again(unsigned attempt, const std::exception_ptr& failure) const;
  duration delay_after(unsigned attempt) const noexcept;

 private:
  unsigned attempts_ = 3;
  duration initial_ = std::chrono::milliseconds(100);
  double factor_ = 2;
  duration max_ = std::chrono::seconds(10);
  retry_jitter jitter_ = retry_jitter::full;
  predicate when_;
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
      if (failure == nullptr) co_return inner.await_resume();
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
