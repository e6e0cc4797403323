// when_all.hpp: runs several awaitables at once; the first failure stops the others.
// SPDX-License-Identifier: MIT
//
// The sibling of fork_join for code that waits: the children have a stop state of their own, so a
// failure ends the waits of the others. Pure computation is better off with fork_join.
#pragma once

#include <coroutine>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/child_range.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// Awaiter of when_all(awaitables...).
template <class... Ts>
class [[nodiscard]] when_all_awaiter : private detail::child_tuple<detail::group_kind::all, Ts...> {
  using values = std::tuple<std::conditional_t<std::is_void_v<Ts>, std::monostate, Ts>...>;

 public:
  using tandem_awaiter = void;

  explicit when_all_awaiter(task<Ts>&&... children) noexcept
      : detail::child_tuple<detail::group_kind::all, Ts...>(std::move(children)...) {}
  /// For an awaiter that has not started.
  when_all_awaiter(when_all_awaiter&&) noexcept = default;

  bool await_ready() const noexcept { return sizeof...(Ts) == 0; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return this->start_all(parent.promise());
  }
  std::exception_ptr await_failure() noexcept { return this->take_failure(); }
  values await_resume() {
    this->rethrow_failure();
    return std::apply([](auto&... room) { return values{value_of(room)...}; }, this->rooms());
  }

 private:
  template <class T>
  static decltype(auto) value_of(detail::fork_room<T>& child) {
    if constexpr (std::is_void_v<T>) {
      return std::monostate();
    } else {
      return child.result.value();
    }
  }
};

/// Awaiter of when_all(range).
template <class T>
class [[nodiscard]] when_all_range_awaiter
    : private detail::child_range<detail::group_kind::all, T> {
 public:
  using tandem_awaiter = void;

  explicit when_all_range_awaiter(std::vector<task<T>>&& children)
      : detail::child_range<detail::group_kind::all, T>(std::move(children)) {}
  /// For an awaiter that has not started.
  when_all_range_awaiter(when_all_range_awaiter&&) noexcept = default;

  bool await_ready() const noexcept { return this->size() == 0; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return this->start_all(parent.promise());
  }
  std::exception_ptr await_failure() noexcept { return this->take_failure(); }
  auto await_resume() {
    this->rethrow_failure();
    if constexpr (!std::is_void_v<T>) {
      static_assert(!std::is_reference_v<T>, "when_all(range) yields values: return pointers");
      std::vector<T> values;
      values.reserve(this->size());
      for (std::size_t i = 0; i < this->size(); ++i) {
        values.push_back(this->room(i).result.value());
      }
      return values;
    }
  }
};

/// Runs all `children` at once and waits for all of them.
///
///     auto [user, posts] = co_await tandem::when_all(load_user(id), load_posts(id));
///
/// @param children  tasks, or anything else that can be awaited (sleep_for(1s), a receive): that
///                  costs a frame more. Tasks are moved in; other lvalues have to stay alive until
///                  the await returns
/// @returns         a tuple of their values, std::monostate for void
/// @throws          the first failure by time, after all have ended: it stops the others (reason
///                  sibling_failed). Later failures go to runtime_options::on_suppressed_exception.
///                  operation_cancelled if nothing failed, but a stop kept a child from its value
/// @cancellation    a stop of the caller reaches all children. Each of them is started, even if a
///                  sibling has failed before: then it is stopped at its first wait
/// @resumes_on      the caller's home; the children start there, may suspend and move
/// @cost            per child one push, one pop, one call, as for fork_join(); one link of a stop state
///                  once a child waits; no allocation
template <detail::combinable... As>
when_all_awaiter<detail::awaited_t<As>...> when_all(As&&... children) {
  return when_all_awaiter<detail::awaited_t<As>...>(detail::as_task(std::forward<As>(children))...);
}

/// As above for the elements of a range, which are moved from; yields a vector, nothing for void.
///
/// @throws  std::bad_alloc before any child has started, too
/// @cost    one block for the results more, and one for the tasks unless a vector of them is given
template <detail::combinable_range Range>
auto when_all(Range&& children) {
  return when_all_range_awaiter(detail::collect_tasks(std::forward<Range>(children)));
}

}  // namespace tandem::inline v0
