// fork_join.hpp: runs child tasks in parallel and waits for all of them.
// SPDX-License-Identifier: MIT
//
// The pure-compute sibling of when_all: no stop source, no allocation beyond the children's frames.
// On a worker the first child starts at once and the others go to the worker's LIFO deque, where
// thieves take the oldest. While nobody steals, a child hands over to its sibling without touching
// the join counter. Protocol: runtime/README.md, "Fork and join", labels F1-F6.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tandem/detail/fork.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class T>
using fork_value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
fork_value<T> take_forked(task<T>& child) {
  if constexpr (std::is_void_v<T>) {
    child.promise().get();
    return {};
  } else {
    return child.promise().get();
  }
}

}  // namespace detail

/// Awaiter of fork_join(tasks...).
template <class... Ts>
class [[nodiscard]] fork_join_awaiter {
 public:
  using tandem_awaiter = void;

  explicit fork_join_awaiter(task<Ts>&&... children) noexcept : children_(std::move(children)...) {}

  bool await_ready() const noexcept { return sizeof...(Ts) == 0; }
  template <class Promise>
  TANDEM_ALWAYS_INLINE std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> parent) noexcept {
    return std::apply(
        [&](auto&... child) {
          TANDEM_ASSERT((static_cast<bool>(child) && ...), "fork_join was given an empty task");
          // One more than there are: fork_join() without children is never forked, but has to compile.
          detail::promise_base* const promises[sizeof...(Ts) + 1] = {&child.promise()...};
          return detail::transfer(detail::fork(join_, parent.promise(), promises, sizeof...(Ts)));
        },
        children_);
  }
  std::tuple<detail::fork_value<Ts>...> await_resume() {
    if (join_.failed()) [[unlikely]]
      join_.rethrow_first();
    return std::apply(
        [](auto&... child) {
          return std::tuple<detail::fork_value<Ts>...>{detail::take_forked(child)...};
        },
        children_);
  }

 private:
  detail::join_frame join_;
  std::tuple<task<Ts>...> children_;
};

/// Awaiter of fork_join(range).
template <class T>
class [[nodiscard]] fork_join_range_awaiter {
 public:
  using tandem_awaiter = void;

  explicit fork_join_range_awaiter(std::vector<task<T>>&& children) noexcept
      : children_(std::move(children)) {}

  bool await_ready() const noexcept { return children_.empty(); }
  template <class Promise>
  TANDEM_ALWAYS_INLINE std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> parent) noexcept {
    detail::fork_builder builder(join_, parent.promise(), children_.size());
    for (std::size_t i = children_.size(); i-- > 0;) {
      TANDEM_ASSERT(children_[i], "fork_join was given an empty task");
      builder.add(children_[i].promise());
    }
    return detail::transfer(builder.start());
  }
  auto await_resume() {
    if (join_.failed()) [[unlikely]]
      join_.rethrow_first();
    if constexpr (std::is_void_v<T>) {
      return;
    } else {
      static_assert(!std::is_reference_v<T>, "fork_join(range) yields values: return pointers");
      std::vector<T> values;
      values.reserve(children_.size());
      for (auto& child : children_) values.push_back(child.promise().get());
      return values;
    }
  }

 private:
  detail::join_frame join_;
  std::vector<task<T>> children_;
};

/// Runs the children in parallel; yields a tuple of their results, std::monostate for void.
///
///     tandem::task<int> fib(int n) {
///       if (n < 2) co_return n;
///       auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
///       co_return a + b;
///     }
///
/// @throws         the first failure by time, after all children have ended
/// @cancellation   a stop of the task reaches what the children await; fork_join itself waits for all
/// @resumes_on     the caller's home; the children start at the same home, may suspend and move
/// @cost           per child one push and one pop; no allocation
template <class... Ts>
fork_join_awaiter<Ts...> fork_join(task<Ts>... children) noexcept {
  return fork_join_awaiter<Ts...>(std::move(children)...);
}

/// As above for any number of children of one type; yields std::vector<T>, nothing for void.
template <class T>
fork_join_range_awaiter<T> fork_join(std::vector<task<T>> children) noexcept {
  return fork_join_range_awaiter<T>(std::move(children));
}

}  // namespace tandem::inline v0
