// yield.hpp: lets other work go first.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>

#include <tandem/detail/promise_base.hpp>
#include <tandem/errors.hpp>

namespace tandem::inline v0 {

/// Awaiter of yield().
class [[nodiscard]] yield_awaiter {
 public:
  using tandem_awaiter = void;

  yield_awaiter() noexcept {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    self.promise().post(post_kind::yield);
  }
  std::exception_ptr await_failure() const noexcept {
    const stop_reason why = current_stop_reason();
    return why != stop_reason::none ? detail::cancellation(why) : nullptr;
  }
  void await_resume() const { throw_if_stopped(); }
};

/// Puts the task behind everything that waits on its executor.
///
///     while (true) co_await tandem::yield();  // until it is stopped
///
/// @throws         operation_cancelled if a stop was requested
/// @cancellation   noticed after others have run
/// @resumes_on     its home
/// @cost           one queue operation
inline yield_awaiter yield() noexcept { return yield_awaiter(); }

}  // namespace tandem::inline v0
