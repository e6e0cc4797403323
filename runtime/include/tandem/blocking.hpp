// blocking.hpp: calls that block, on threads of their own, so that no worker waits for them.
// SPDX-License-Identifier: MIT
//
// The pool is a service of the runtime, made by the first blocking(). Its threads start when a call
// finds no idle one, are taken youngest first, and end when they were idle for keep_alive.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tandem/blocking_options.hpp>
#include <tandem/detail/blocking_request.hpp>
#include <tandem/runtime.hpp>

namespace tandem::inline v0 {

/// Counts of a blocking pool at one moment.
class blocking_stats {
 public:
  blocking_stats() noexcept = default;

  unsigned threads = 0;    ///< alive
  unsigned idle = 0;       ///< of them, without a call
  unsigned peak = 0;       ///< most threads at once so far
  std::size_t queued = 0;  ///< calls that wait for a thread
  std::uint64_t run = 0;   ///< calls that have ended
};

/// Elastic threads for calls that block: `rt.use_service<tandem::blocking_pool>()`. Users rarely
/// need it: blocking() makes it.
///
/// @thread_safety  all members from any thread
class TANDEM_API blocking_pool final : public service {
 public:
  /// Takes runtime_options::blocking. @throws std::invalid_argument naming an option out of range
  explicit blocking_pool(runtime& owner);
  ~blocking_pool() override;

  /// @throws  forked_runtime
  blocking_stats stats() const;
  std::string_view service_name() const noexcept override;
  void stop() noexcept override;
  void append_metrics(std::vector<metric_family>& out) const override;

  // Implementation
  class impl;
  impl& implementation() noexcept { return *impl_; }

 private:
  std::unique_ptr<impl> impl_;
};

/// Awaiter of blocking().
template <class F>
class [[nodiscard]] blocking_awaiter : private detail::blocking_request {
  using returned = std::invoke_result_t<F>;
  static_assert(
      !requires { typename returned::promise_type; },
      "the callable of blocking returns a coroutine, which it would only make: await that "
      "directly");
  static_assert(!std::is_rvalue_reference_v<returned>,
                "the callable of blocking returns an rvalue reference: return a value");

 public:
  using tandem_awaiter = void;
  using value_type = std::remove_cv_t<returned>;

  explicit blocking_awaiter(F&& call) : blocking_request(&invoke_call), call_(std::move(call)) {}
  /// For an awaiter that has not started.
  blocking_awaiter(blocking_awaiter&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
      : blocking_request(std::move(other)), call_(std::move(other.call_)) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise(), result_);
  }
  std::exception_ptr await_failure() noexcept {
    std::exception_ptr stopped = failure_if_stopped();
    return stopped != nullptr ? stopped : result_.take_failure();
  }
  value_type await_resume() {
    resumed();
    return result_.get();
  }

 private:
  static void invoke_call(blocking_request& request) noexcept {
    auto& self = static_cast<blocking_awaiter&>(request);
    try {
      if constexpr (std::is_void_v<value_type>) {
        std::invoke(std::move(self.call_));
      } else {
        self.result_.set_value(std::invoke(std::move(self.call_)));
      }
    } catch (...) {
      self.result_.error = std::current_exception();
    }
  }

  F call_;
  detail::outcome<value_type> result_;
};

/// Runs `call()` on a thread where it may block, and resumes with what it returns.
///
///     auto text = co_await tandem::blocking([&] { return read_whole_file(path); });
///
/// The callable runs outside any worker, but within its task: stop_requested() and whatever else
/// hangs on the task works in it, and so do spawn() and blocking waits (sync_wait, run) on any
/// runtime. Only ending, or draining, the own runtime from there is refused.
///
/// @param call     kept in the awaiter until the call has ended: it may capture by reference. With
///                 g++ 12 a lambda that captures objects with destructors needs a name: a temporary
///                 does not compile
/// @returns        what `call` returns
/// @throws         what `call` throws; operation_cancelled if a stop came before it began;
///                 std::system_error (resource_unavailable_try_again) if
///                 blocking_options::queue_limit calls wait already, or if the system gives no
///                 thread and there is none
/// @cancellation   takes the call out of the queue; one that has begun is waited for, and its
///                 result counts. So with_timeout around blocking ends late by design: ask
///                 tandem::stop_requested() in long calls
/// @resumes_on     the caller's home
/// @cost           no allocation, two hand-overs between threads; up to max_threads threads
template <class F>
  requires std::invocable<std::decay_t<F>>
blocking_awaiter<std::decay_t<F>> blocking(F&& call) {
  static_assert(detail::safe_in_co_await<F&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto call = [...]...; co_await blocking(call);), or capture by reference");
  return blocking_awaiter<std::decay_t<F>>(std::decay_t<F>(std::forward<F>(call)));
}

}  // namespace tandem::inline v0
