// pass_on.hpp: how a coroutine of the library hands on what an await has failed with: without a throw.
// SPDX-License-Identifier: MIT
//
// A throw costs a microsecond for each frame that it leaves. Frames of the user's see it there; a
// frame of the library that only passes an outcome on ends as if it had thrown, and nobody throws:
//
//     auto inner = get_awaiter(std::move(child));
//     co_await wait_for(inner);                    // ends as the child ends, and throws nothing
//     co_await pass_on(failure_of(inner));         // goes no further if there is one
//     co_return inner.await_resume();
//
// Protocol calls, step calls/end_failed: runtime/src/task/README.md.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0::detail {

/// An awaiter that can hand its failure out instead of throwing it: await_failure() comes in front
/// of await_resume(), and instead of it unless it is null. (Null may also mean that await_resume()
/// throws what is rare.)
template <class Awaiter>
concept gives_failure = requires(std::remove_reference_t<Awaiter>& a) {
  typename std::remove_reference_t<Awaiter>::tandem_awaiter;
  { a.await_failure() } -> std::same_as<std::exception_ptr>;
};

/// An awaiter that tells whether a stop has ended the wait, for one that has its outcome as a
/// result: failures of other kinds are thrown, with all that their text says. Whoever overrides
/// await_resume() there overrides await_resume_result(), too.
template <class Awaiter>
concept tells_stop = requires(std::remove_reference_t<Awaiter>& a) {
  typename std::remove_reference_t<Awaiter>::tandem_awaiter;
  { a.was_stopped() } -> std::same_as<bool>;
  a.await_resume_result();
};

/// As when an exception leaves `frame`, which is suspended; the current one need not be it.
TANDEM_API void keep_failure(promise_base& frame, std::exception_ptr&& failure) noexcept;
/// calls/end_failed. Destroys a suspended frame that was called on this stack. @returns false if it
/// was not called here: then nothing has happened, and end_frame() has to
TANDEM_API bool end_on_stack(promise_base& frame) noexcept;

/// Waits as `inner` does; the outcome stays in there.
template <class Awaiter>
class [[nodiscard]] wait_only {
 public:
  using tandem_awaiter = void;

  explicit wait_only(Awaiter& inner) noexcept : inner_(&inner) {}
  bool await_ready() { return inner_->await_ready(); }
  template <class Promise>
  decltype(auto) await_suspend(std::coroutine_handle<Promise> self) {
    return inner_->await_suspend(self);
  }
  void await_resume() const noexcept {}

 private:
  Awaiter* inner_;
};
template <class Awaiter>
wait_only<Awaiter> wait_for(Awaiter& inner) noexcept {
  return wait_only<Awaiter>(inner);
}

/// Ends the frame with a failure, if there is one.
class [[nodiscard]] failure_awaiter {
 public:
  using tandem_awaiter = void;

  explicit failure_awaiter(std::exception_ptr&& failure) noexcept : failure_(std::move(failure)) {}
  bool await_ready() const noexcept { return failure_ == nullptr; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) noexcept {
    promise_base& frame = self.promise();
    keep_failure(frame, std::move(failure_));
    // This awaiter goes with the frame.
    if (end_on_stack(frame)) return std::noop_coroutine();
    return transfer(end_frame(frame));
  }
  void await_resume() const noexcept {}

 private:
  std::exception_ptr failure_;
};
inline failure_awaiter pass_on(std::exception_ptr failure) noexcept {
  return failure_awaiter(std::move(failure));
}

/// After the wait. @returns null if there is none, or if only await_resume() knows
template <class Awaiter>
std::exception_ptr failure_of(Awaiter& ended) noexcept {
  if constexpr (gives_failure<Awaiter>) {
    return ended.await_failure();
  } else if constexpr (tells_stop<Awaiter>) {
    return ended.was_stopped() ? ended.await_resume_result().exception() : nullptr;
  } else {
    return nullptr;
  }
}

}  // namespace tandem::inline v0::detail
