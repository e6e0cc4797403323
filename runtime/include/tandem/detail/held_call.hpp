// held_call.hpp: a call of a callable that returns a task, kept with its arguments until that has ended.
// SPDX-License-Identifier: MIT
//
// What takes a callable takes it by reference and hands it to hold_call(), which is no coroutine:
// g++ 12 destroys temporary closures twice that a coroutine takes by value inside a co_await.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::detail {

/// Stands for an argument that was not given, where others follow that have defaults, too.
struct no_argument {};
template <class A>
inline constexpr bool is_given = !std::is_same_v<std::remove_cvref_t<A>, no_argument>;

/// `type` is what f(args...) returns; there is none if it cannot be called so.
template <class F, class... Args>
struct held_call : std::invoke_result<std::decay_t<F>&, std::decay_t<Args>...> {};
template <class F, class A, class B>
struct held_call<F, A, B, no_argument> : held_call<F, A, B> {};
template <class F, class A>
struct held_call<F, A, no_argument, no_argument> : held_call<F, A> {};
template <class F>
struct held_call<F, no_argument, no_argument, no_argument> : held_call<F> {};

template <class F, class... Args>
using held_task = typename held_call<F, Args...>::type;
template <class F, class... Args>
using held_value = typename held_task<F, Args...>::value_type;
template <class F, class... Args>
concept makes_task =
    requires { typename held_task<F, Args...>; } && is_task_type<held_task<F, Args...>>;
template <class F, class... Args>
concept makes_void_task = makes_task<F, Args...> && std::same_as<held_task<F, Args...>, task<void>>;

template <class T, class F, class... Args>
task<T> invoke_held(F f, Args... args) {
  decltype(auto) called = get_awaiter(std::invoke(f, std::move(args)...));
  co_await wait_for(called);
  co_await pass_on(failure_of(called));
  co_return called.await_resume();
}

/// The task f(args...), without those that are not given.
template <class F, class... Args>
held_task<F, Args...> hold_call(F&& f, Args&&... args) {
  return invoke_held<held_value<F, Args...>, std::decay_t<F>, std::decay_t<Args>...>(
      std::forward<F>(f), std::forward<Args>(args)...);
}
template <class F, class A, class B, class C>
held_task<F, A, B, C> hold_given(F&& f, A&& a, B&& b, C&& c) {
  if constexpr (!is_given<A>) {
    return hold_call(std::forward<F>(f));
  } else if constexpr (!is_given<B>) {
    return hold_call(std::forward<F>(f), std::forward<A>(a));
  } else if constexpr (!is_given<C>) {
    return hold_call(std::forward<F>(f), std::forward<A>(a), std::forward<B>(b));
  } else {
    return hold_call(std::forward<F>(f), std::forward<A>(a), std::forward<B>(b),
                     std::forward<C>(c));
  }
}

}  // namespace tandem::inline v0::detail
