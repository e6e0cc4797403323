// blocking_request.hpp: one call that waits for, or runs on, a thread of the blocking pool.
// SPDX-License-Identifier: MIT
//
// The request is the awaiter, so queueing it allocates nothing. Protocol blocking_calls:
// runtime/src/blocking/README.md.
#pragma once

#include <cstdint>

#include <tandem/detail/leaf.hpp>
#include <tandem/detail/outcome.hpp>
#include <tandem/runtime.hpp>

namespace tandem::inline v0 {

class blocking_pool;

namespace detail {

class blocking_queue;

class TANDEM_API blocking_request : public leaf {
 public:
  /// Runs the callable and keeps its outcome. On a pool thread, with the task's environment
  /// current.
  using call_function = void (*)(blocking_request&) noexcept;

  explicit blocking_request(call_function call) noexcept : leaf(waits_for_call), call_(call) {}
  /// For awaiters that have not started.
  blocking_request(blocking_request&& other) noexcept
      : leaf(std::move(other)), call_(other.call_) {}

 protected:
  /// @param result  takes the failure if the request could not be queued
  /// @returns       whether the task suspends
  bool start(promise_base& waiting, outcome_base& result) noexcept;
  /// First thing in await_failure.
  std::exception_ptr failure_if_stopped() noexcept;
  /// First thing in await_resume. @throws operation_cancelled if the call was taken out of the
  /// queue
  void resumed();

 private:
  friend class tandem::blocking_pool;
  friend class blocking_queue;
  /// Under the pool's lock. stopped: on_stop came before the request was queued, or took it out.
  enum class state : std::uint8_t { fresh, queued, running, stopped };

  static bool on_stop(stop_waiter& self) noexcept;
  static const wait_kind waits_for_call;

  call_function call_;
  outcome_base* result_ = nullptr;
  blocking_pool* pool_ = nullptr;
  tandem::runtime* held_clock_ = nullptr;
  blocking_request* previous_ = nullptr;  // the queue's links, under the pool's lock
  blocking_request* next_ = nullptr;
  state state_ = state::fresh;
};

}  // namespace detail
}  // namespace tandem::inline v0
