// invoke.hpp: calls a coroutine lambda, and keeps it alive until its task has ended.
// SPDX-License-Identifier: MIT
//
// A coroutine lambda's captures lie in the closure, not in the frame: `[x]() -> task<> {...}()`
// refers to a closure that is gone once the expression has ended. Here the closure moves into a
// frame.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <tandem/detail/held_call.hpp>

namespace tandem::inline v0 {

namespace detail {

/// A callable that was moved out of a named one. Its constructor makes it safe as a temporary in a
/// co_await expression, where a closure is not.
template <class F>
class moved_call {
 public:
  explicit moved_call(F& from) noexcept(std::is_nothrow_move_constructible_v<F>)
      : call_(std::move(from)) {}

  template <class... Args>
    requires std::invocable<F&, Args...>
  decltype(auto) operator()(Args&&... args) {
    return std::invoke(call_, std::forward<Args>(args)...);
  }

 private:
  F call_;
};

template <class F>
inline constexpr bool safe_in_co_await<moved_call<F>> = true;
template <class F>
inline constexpr bool safe_in_co_await<moved_call<F>&&> = true;

}  // namespace detail

/// A named callable, moved: what `std::move(f)` is elsewhere, for calls that take a callable inside
/// a co_await expression. g++ 12 cannot tell a moved closure from a temporary one, which it would
/// destroy twice, so with it such calls refuse both.
///
///     auto greets = [socket = std::move(socket)]() -> tandem::task<void> { ... };
///     co_await tandem::invoke(tandem::moved(greets));
///
/// @param named  moved from at once
/// @throws       what its move constructor throws
template <class F>
  requires(!std::is_const_v<F>)
[[nodiscard]] detail::moved_call<F> moved(F& named) noexcept(
    std::is_nothrow_move_constructible_v<F>) {
  return detail::moved_call<F>(named);
}

/// The task `f(args...)`, which owns copies of both.
///
///     const auto greets = [name](int times) -> tandem::task<void> { co_await greet(name, times); };
///     co_await tandem::with_timeout(1s, tandem::invoke(greets, 3));
///
/// @param f        a callable that returns a task. With g++ 12 a temporary lambda that captures
///                 objects with destructors does not compile: give it a name, and move it by moved()
/// @param args     copied or moved in, and handed to `f` as rvalues
/// @returns        a task like any other: to be awaited, spawned, forked, limited
/// @throws         std::bad_alloc, at the call; the task: what `f` and its task throw
/// @cost           one frame more
template <class F, class... Args>
  requires detail::makes_task<F, Args...>
auto invoke(F&& f, Args&&... args) {
  static_assert(detail::safe_in_co_await<F&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto f = [...]...; co_await invoke(f);), or capture by reference. A named one is "
                "moved by invoke(tandem::moved(f)), since g++ 12 cannot tell std::move(f) from it");
  return detail::hold_call(std::forward<F>(f), std::forward<Args>(args)...);
}

}  // namespace tandem::inline v0
