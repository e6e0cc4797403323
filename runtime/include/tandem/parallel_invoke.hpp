// parallel_invoke.hpp: plain functions that call in parallel, without a coroutine.
// SPDX-License-Identifier: MIT
//
// For the leaves of a recursion, which should not pay for frames. The first callable is called at
// once, the others wait in the worker's lane, on the caller's stack; what nobody stole is called as
// an ordinary function. Protocol: detail/invoke.hpp, invoke.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <tandem/detail/invoke.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class F>
concept returns_task = requires { typename std::invoke_result_t<F&>::promise_type; };

template <class F>
using invoke_value = std::conditional_t<std::is_void_v<std::invoke_result_t<F&>>, std::monostate,
                                        std::invoke_result_t<F&>>;

template <class F>
TANDEM_ALWAYS_INLINE invoke_value<F> call_for_value(F& f) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    f();
    return {};
  } else {
    return f();
  }
}

template <class F, class G>
TANDEM_ALWAYS_INLINE std::tuple<invoke_value<F>, invoke_value<G>> invoke_two(F& f, G& g) {
  using both = std::tuple<invoke_value<F>, invoke_value<G>>;
  thread_context& context = this_thread();
  if (context.lane == nullptr) [[unlikely]] {
    auto&& first = call_for_value(f);
    return both{static_cast<invoke_value<F>&&>(first), call_for_value(g)};
  }
  invoked<G> second(g, context);
  const std::int64_t index = second.publish(context);  // invoke/push
  auto&& first = [&]() -> invoke_value<F> {
    try {
      return call_for_value(f);
    } catch (...) {
      if (!second.take_back(context, index)) {
        second.wait(context);
        second.discard();
      }
      throw;
    }
  }();
  if (second.take_back(context, index)) [[likely]] {  // invoke/pop
    return both{static_cast<invoke_value<F>&&>(first), call_for_value(g)};
  }
  second.wait(context);
  auto wait_result = [&]() -> invoke_value<G> {
    if constexpr (std::is_void_v<std::invoke_result_t<G&>>) {
      second.get();
      return {};
    } else {
      return second.get();
    }
  };
  return both{static_cast<invoke_value<F>&&>(first), wait_result()};
}

template <class F, class G>
auto invoke_all(F& f, G& g) {
  return invoke_two(f, g);
}

template <class F, class G, class... Rest>
auto invoke_all(F& f, G& g, Rest&... rest) {
  auto others = [&] { return invoke_all(g, rest...); };
  auto [first, tail] = invoke_two(f, others);
  return std::tuple_cat(std::tuple<invoke_value<F>>(std::forward<invoke_value<F>>(first)),
                        std::move(tail));
}

}  // namespace detail

/// Calls all callables, in parallel where workers are free, and returns when all have returned.
///
///     long fib(int n) {
///       if (n < 2) return n;
///       auto [a, b] = tandem::parallel_invoke([&] { return fib(n - 1); }, [&] { return fib(n - 2); });
///       return a + b;
///     }
///
/// For plain functions on a worker, that is anywhere below a task whose home is a worker pool. On
/// other threads it calls one after the other. Recursion uses the stack, as plain calls do.
/// Callables that return tasks: fork_join(f(), g()).
///
/// @returns        a tuple of the results, std::monostate for void; nothing if all are void
/// @throws         what the leftmost callable that threw has thrown, after all that had begun
///                 ended; callables that nobody had begun by then are not called
/// @cancellation   none by itself: a callable may call stop_requested() or throw_if_stopped()
/// @thread_safety  the callables run on several threads at once. A caller whose callable was taken
///                 over blocks its worker; until it returns it helps with what descends from that
///                 call, and with nothing else, so locks held across the call are safe
/// @cost           a push and a pop, no allocation
template <class F, class G, class... Rest>
  requires(std::invocable<F&> && std::invocable<G&> && (std::invocable<Rest&> && ...))
TANDEM_ALWAYS_INLINE auto parallel_invoke(F&& f, G&& g, Rest&&... rest) {
  static_assert(
      !(detail::returns_task<F> || detail::returns_task<G> || (detail::returns_task<Rest> || ...)),
      "parallel_invoke calls plain functions; for tasks: co_await fork_join(f(), g())");
  if constexpr ((std::is_void_v<std::invoke_result_t<F&>> &&
                 std::is_void_v<std::invoke_result_t<G&>>) &&
                (std::is_void_v<std::invoke_result_t<Rest&>> && ...)) {
    (void)detail::invoke_all(f, g, rest...);
  } else {
    return detail::invoke_all(f, g, rest...);
  }
}

}  // namespace tandem::inline v0
