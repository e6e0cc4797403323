// resume_on.hpp: moves a task to another executor.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>

#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0 {

/// Awaiter of resume_on().
class [[nodiscard]] resume_on_awaiter {
 public:
  using tandem_awaiter = void;

  explicit resume_on_awaiter(executor& target) noexcept : target_(&target) {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
    detail::promise_base& promise = self.promise();
    promise.home = target_;
    if (detail::runs_here(*target_)) return detail::transfer(self);
    promise.post();
    return std::noop_coroutine();
  }
  void await_resume() const noexcept {}

 private:
  executor* target_;
};

/// Makes `target` the home of this coroutine and of what it awaits from now on; goes on there.
/// The caller of this coroutine still resumes at its own home.
///
///     co_await tandem::resume_on(tandem::current_environment()->runtime()->workers());
///
/// @param target   has to outlive the coroutine
/// @cancellation   none; a stop is noticed by the next await
/// @resumes_on     `target`
/// @cost           one post, nothing if already there
inline resume_on_awaiter resume_on(executor& target) noexcept { return resume_on_awaiter(target); }

}  // namespace tandem::inline v0
