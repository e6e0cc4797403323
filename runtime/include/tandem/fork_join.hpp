// fork_join.hpp: runs child tasks in parallel and waits for all of them.
// SPDX-License-Identifier: MIT
//
// No stop source, no allocation beyond the children's frames: for a failure that stops the siblings
// there is with_scope. On a worker the first child is called like a function and the others go to
// the worker's LIFO deque, where thieves take the oldest. While nobody steals and nobody suspends,
// the parent calls them one after the other and never leaves its stack. Protocol joins:
// runtime/src/fork/README.md.
#pragma once

#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/fork.hpp>
#include <tandem/fork_each.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

/// A task, or a vector or array of tasks, that would have to be copied.
template <class T>
inline constexpr bool is_lvalue_task = false;
template <class T>
inline constexpr bool is_lvalue_task<task<T>&> = true;
template <class T>
inline constexpr bool is_lvalue_task<std::vector<task<T>>&> = true;
template <class T, std::size_t N>
inline constexpr bool is_lvalue_task<std::array<task<T>, N>&> = true;

template <class T>
using fork_value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
fork_value<T> take_forked(fork_room<T>& room) {
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return room.result.value();
  }
}

/// What the awaiters of a range have in common. `Children` is an array or a vector of tasks.
template <class Children, class Rooms>
class fork_range {
 public:
  using tandem_awaiter = void;

  explicit fork_range(Children&& children, Rooms&& rooms = Rooms()) noexcept
      : children_(std::move(children)), rooms_(std::move(rooms)) {}
  /// For an awaiter that has not started.
  fork_range(fork_range&&) noexcept = default;

  bool await_ready() const noexcept { return children_.size() == 0; }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return start(this_thread(), parent.promise());
  }
  std::exception_ptr await_failure() noexcept { return join_.take_failure(); }

 protected:
  std::size_t size() const noexcept { return children_.size(); }
  Rooms& rooms_after_join() {
    if (join_.failed()) [[unlikely]]
      join_.rethrow_first();
    return rooms_;
  }

 private:
  bool start(thread_context& context, promise_base& parent) noexcept {
    auto next = [this](std::size_t i) { return std::move(checked(children_[i])); };
    return start_each(context, parent, join_, rooms_, children_.size(), next);
  }

  join_frame join_;
  Children children_;
  Rooms rooms_;
};

}  // namespace detail

/// Awaiter of fork_join(tasks...).
template <class... Ts>
class [[nodiscard]] fork_join_awaiter {
 public:
  using tandem_awaiter = void;

  explicit fork_join_awaiter(task<Ts>&&... children) noexcept : children_(std::move(children)...) {}
  /// For an awaiter that has not started.
  fork_join_awaiter(fork_join_awaiter&& other) noexcept : children_(std::move(other.children_)) {}

  bool await_ready() const noexcept { return sizeof...(Ts) == 0; }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    if constexpr (sizeof...(Ts) == 0) {
      return false;
    } else {
      return start(detail::this_thread(), parent.promise(), std::index_sequence_for<Ts...>());
    }
  }
  std::exception_ptr await_failure() noexcept { return join_.take_failure(); }
  std::tuple<detail::fork_value<Ts>...> await_resume() {
    if (join_.failed()) [[unlikely]]
      join_.rethrow_first();
    return std::apply(
        [](auto&... room) {
          return std::tuple<detail::fork_value<Ts>...>{detail::take_forked<Ts>(room)...};
        },
        rooms_);
  }

 private:
  template <std::size_t... I>
  TANDEM_ALWAYS_INLINE bool start(detail::thread_context& context, detail::promise_base& parent,
                                  std::index_sequence<I...>) noexcept {
    constexpr std::size_t count = sizeof...(Ts);
    detail::promise_base* const children[] = {detail::release_child(std::get<I>(children_))...};
    join_.expect(count);  // joins/publish
    const std::uint64_t segment = context.segment;
    (detail::prepare_child(*children[I], parent, std::get<I>(rooms_).result, join_, segment), ...);
    if (!detail::forks_on_stack(context, parent)) [[unlikely]] {
      detail::send_children(context, children, count);
      return true;
    }
    const std::int64_t base = context.lane->position() + std::int64_t{count} - 1;
    if constexpr (count == 2) {
      detail::publish_child(context, *children[1]);
    } else if constexpr (count > 2) {
      for (std::size_t i = count - 1; i > 0; --i) detail::publish_sibling(context, *children[i]);
      detail::look_for_thieves(context);
    }
    if (!detail::call(context, *children[0])) [[unlikely]]
      return true;
    for (std::size_t i = 1; i < count; ++i) {
      const std::int64_t index = base - static_cast<std::int64_t>(i);
      if (!detail::take_known_sibling(context, index) || !detail::call(context, *children[i]))
          [[unlikely]] {
        // joins/stolen, joins/give_way, joins/suspended
        return detail::settle_here(context, parent, join_, i);
      }
    }
    return false;  // joins/all_here
  }

  detail::join_frame join_;
  std::tuple<task<Ts>...> children_;
  std::tuple<detail::fork_room<Ts>...> rooms_;
};

/// Awaiter of fork_join(vector).
template <class T>
class [[nodiscard]] fork_join_vector_awaiter
    : public detail::fork_range<std::vector<task<T>>, detail::room_block<T>> {
 public:
  explicit fork_join_vector_awaiter(std::vector<task<T>>&& children)
      : fork_join_vector_awaiter::fork_range(std::move(children),
                                             detail::room_block<T>(children.size())) {}

  auto await_resume() {
    auto& rooms = this->rooms_after_join();
    if constexpr (!std::is_void_v<T>) {
      static_assert(!std::is_reference_v<T>, "fork_join(range) yields values: return pointers");
      std::vector<T> values;
      values.reserve(this->size());
      for (std::size_t i = 0; i < this->size(); ++i) values.push_back(rooms[i].result.value());
      return values;
    }
  }
};

/// Awaiter of fork_join(array).
template <class T, std::size_t N>
class [[nodiscard]] fork_join_array_awaiter
    : public detail::fork_range<std::array<task<T>, N>, std::array<detail::fork_room<T>, N>> {
 public:
  explicit fork_join_array_awaiter(std::array<task<T>, N>&& children) noexcept
      : fork_join_array_awaiter::fork_range(std::move(children)) {}

  auto await_resume() {
    auto& rooms = this->rooms_after_join();
    if constexpr (!std::is_void_v<T>) {
      static_assert(!std::is_reference_v<T>, "fork_join(range) yields values: return pointers");
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<T, N>{rooms[I].result.value()...};
      }(std::make_index_sequence<N>());
    }
  }
};

/// Runs the children in parallel; yields a tuple of their results, std::monostate for void.
///
///     tandem::task<int> fib(int n) {
///       if (n < 2) co_return n;
///       auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
///       co_return a + b;
///     }
///
/// @param children  tasks; an awaiter such as sleep_for(...) has to be wrapped in one
/// @throws         the first failure by time, after all children have ended: it does not stop them;
///                 later ones go to runtime_options::on_suppressed_exception (default: stderr)
/// @cancellation   a stop of the task reaches what the children await; children that only compute
///                 call throw_if_stopped(); fork_join itself waits for all
/// @resumes_on     the caller's home; the children start at the same home, may suspend and move
/// @cost           per child one push, one pop and one call; no allocation
template <class... Ts>
TANDEM_ALWAYS_INLINE fork_join_awaiter<Ts...> fork_join(task<Ts>&&... children) noexcept {
  return fork_join_awaiter<Ts...>(std::move(children)...);
}

/// A task is started once, so it is given away.
template <class... Ts>
  requires(sizeof...(Ts) > 0 && (detail::is_lvalue_task<Ts> || ...))
void fork_join(Ts&&...) {
  static_assert(sizeof...(Ts) == 0,
                "fork_join takes its tasks over: write fork_join(std::move(a), std::move(b)), or "
                "fork_join(std::move(tasks)) for a vector of them");
}

/// What is forked is tasks, not functions that make them.
template <class... Ts>
  requires((detail::uncalled<Ts> || ...) && !(detail::is_lvalue_task<Ts> || ...))
void fork_join(Ts&&...) {
  static_assert(sizeof...(Ts) == 0,
                "fork_join takes tasks, not functions that return them. Call each: "
                "fork_join(f(), g()); a lambda with captures has to outlive its task, so give it a "
                "name first. For plain functions there is parallel_invoke(f, g)");
}

/// As above for any number of children of one type; yields std::vector<T>, nothing for void.
/// Where the children need not be collected, fork_each() is faster.
///
/// @throws  std::bad_alloc before any child has started, too
/// @cost    one block for the results more
template <class T>
fork_join_vector_awaiter<T> fork_join(std::vector<task<T>>&& children) {
  return fork_join_vector_awaiter<T>(std::move(children));
}

/// As above for a number known when compiling; yields std::array<T, N>, nothing for void.
template <class T, std::size_t N>
fork_join_array_awaiter<T, N> fork_join(std::array<task<T>, N>&& children) noexcept {
  return fork_join_array_awaiter<T, N>(std::move(children));
}

/// As above for what a range yields: `fork_join(urls | std::views::transform(fetch))`.
template <std::ranges::input_range Range>
  requires(!detail::is_lvalue_task<Range> &&
           requires { typename std::ranges::range_value_t<Range>::promise_type; })
auto fork_join(Range&& children) {
  std::vector<std::ranges::range_value_t<Range>> collected;
  if constexpr (std::ranges::sized_range<Range>) collected.reserve(std::ranges::size(children));
  for (auto&& child : children) collected.push_back(std::move(child));
  return fork_join(std::move(collected));
}

}  // namespace tandem::inline v0
