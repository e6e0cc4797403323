// as_task.hpp: makes a task of whatever can be awaited, for combinators that start tasks.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <ranges>
#include <type_traits>
#include <utility>

#include <tandem/detail/await_transform.hpp>
#include <tandem/detail/pass_on.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::detail {

template <class A>
inline constexpr bool is_task_type = false;
template <class T>
inline constexpr bool is_task_type<task<T>> = true;

/// A task, or anything else that may stand behind co_await. (An lvalue task is let in, for to_task
/// to say what is wrong with it.)
template <class A>
concept combinable =
    is_task_type<std::remove_cvref_t<A>> ||
    requires(std::remove_reference_t<awaiter_t<A&&>>& a) { static_cast<bool>(a.await_ready()); };

template <class A>
struct awaited {};
template <combinable A>
struct awaited<A> {
  using raw = await_result_t<A>;
  using type = std::conditional_t<std::is_rvalue_reference_v<raw>, std::remove_cvref_t<raw>, raw>;
};
template <class T>
struct awaited<task<T>> {
  using type = T;
};
template <class T>
struct awaited<task<T>&> {
  using type = T;
};

/// What co_await of an A yields.
template <class A>
using awaited_t = typename awaited<
    std::conditional_t<std::is_lvalue_reference_v<A>, A, std::remove_cvref_t<A>>>::type;

/// Elements of R are tasks or other awaitables.
template <class R>
concept combinable_range = std::ranges::input_range<R> && !combinable<R> &&
                           combinable<std::ranges::range_rvalue_reference_t<R>>;

/// A function that returns a task, given where the task is wanted.
template <class F>
concept uncalled = !combinable<F> &&
                   requires(std::remove_reference_t<F>& f) { requires combinable<decltype(f())>; };

/// Dropping its result loses something for good: an accepted connection, bytes that were read, a
/// lock that nobody gives back. An awaiter says so by `using lossy_when_dropped = std::true_type;`.
template <class A>
concept lossy_when_dropped = !is_task_type<std::remove_cvref_t<A>> && requires {
  requires std::remove_cvref_t<awaiter_t<A&&>>::lossy_when_dropped::value;
};

/// The awaiter of a block around something lossy is lossy, too.
template <class Awaiter>
class lossy_awaiter : public Awaiter {
 public:
  using lossy_when_dropped = std::true_type;
  using Awaiter::Awaiter;
};
template <class A, class Awaiter>
using marked_t = std::conditional_t<lossy_when_dropped<A>, lossy_awaiter<Awaiter>, Awaiter>;

/// @tparam Held  the awaitable itself, or a reference to one that its owner keeps
template <class T, class Held>
task<T> await_held(Held held) {
  if constexpr (gives_failure<awaiter_t<Held&&>> || tells_stop<awaiter_t<Held&&>>) {
    decltype(auto) inner = get_awaiter(static_cast<Held&&>(held));
    co_await wait_for(inner);
    co_await pass_on(failure_of(inner));
    co_return inner.await_resume();
  } else {
    co_return co_await static_cast<Held&&>(held);
  }
}

template <class T>
task<T> as_task(task<T>&& given) noexcept {
  return std::move(given);
}

/// @throws  std::bad_alloc
/// @cost    one frame
template <class A>
  requires(combinable<A> && !std::same_as<std::remove_reference_t<A>, task<awaited_t<A>>>)
task<awaited_t<A>> as_task(A&& awaitable) {
  return await_held<awaited_t<A>, A>(std::forward<A>(awaitable));
}

/// A task is started once, so it is given away.
template <class T>
task<T> as_task(task<T>& kept) {
  static_assert(sizeof(kept) == 0,
                "a task is awaited once: write std::move(t), or call f(x) there");
  return std::move(kept);
}

}  // namespace tandem::inline v0::detail
