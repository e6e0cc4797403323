// algorithm_awaiter.hpp: what a parallel algorithm returns, to be awaited.
// SPDX-License-Identifier: MIT
//
// An Algorithm lives in the awaiter, so in the caller's frame, and its pieces refer to it. It has
//   rest_type          what the task of the rest yields
//   run_inline()       runs what is not worth a task; true if that was all
//   rest()             the task of the rest
//   conclude(outcome&) after that has ended: rethrows, or takes its value
//   take()             the result
#pragma once

#include <coroutine>
#include <utility>

#include <tandem/task.hpp>

namespace tandem::inline v0::detail {

/// Awaiter of all parallel algorithms.
template <class Algorithm>
class [[nodiscard]] algorithm_awaiter {
 public:
  using tandem_awaiter = void;

  explicit algorithm_awaiter(Algorithm&& algorithm) : algorithm_(std::move(algorithm)) {}
  /// For an awaiter that has not started.
  algorithm_awaiter(algorithm_awaiter&& other) : algorithm_(std::move(other.algorithm_)) {}

  bool await_ready() { return algorithm_.run_inline(); }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> parent) {
    promise_base& rest = algorithm_.rest().release();
    has_rest_ = true;
    return call_awaited(rest, parent.promise(), rest_);
  }
  decltype(auto) await_resume() {
    if (has_rest_) algorithm_.conclude(rest_);
    return algorithm_.take();
  }

 private:
  Algorithm algorithm_;
  bool has_rest_ = false;
  outcome<typename Algorithm::rest_type> rest_;
};

}  // namespace tandem::inline v0::detail
