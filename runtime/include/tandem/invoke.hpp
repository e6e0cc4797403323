// invoke.hpp: calls a coroutine lambda, and keeps it alive until its task has ended.
// SPDX-License-Identifier: MIT
//
// A coroutine lambda's captures lie in the closure, not in the frame: `[x]() -> task<> {...}()`
// refers to a closure that is gone once the expression has ended. Here the closure moves into a
// frame.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class T, class F, class... Args>
task<T> invoke_held(F f, Args... args) {
  co_return co_await std::invoke(f, std::move(args)...);
}

}  // namespace detail

/// The task `f(args...)`, which owns copies of both.
///
///     scope.spawn(tandem::invoke(
///         [name](int times) -> tandem::task<void> { co_await greet(name, times); }, 3));
///
/// @param f        a callable that returns a task. With g++ 12 a temporary lambda that captures
///                 objects with destructors does not compile: give it a name
/// @param args     copied or moved in, and handed to `f` as rvalues
/// @returns        a task like any other: to be awaited, spawned, forked, limited
/// @throws         std::bad_alloc, at the call; the task: what `f` and its task throw
/// @cost           one frame more
template <class F, class... Args>
  requires(detail::is_task_type<std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>>)
auto invoke(F&& f, Args&&... args) {
  static_assert(detail::safe_in_co_await<F&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto f = [...]...; co_await invoke(f);), or capture by reference");
  using value = typename std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>::value_type;
  return detail::invoke_held<value, std::decay_t<F>, std::decay_t<Args>...>(
      std::forward<F>(f), std::forward<Args>(args)...);
}

}  // namespace tandem::inline v0
