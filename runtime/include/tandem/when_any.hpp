// when_any.hpp: runs several awaitables until the first has ended, and drops nothing of the others.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <ranges>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/child_range.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// Which child of a when_any ended first, and what became of each of them.
///
/// @thread_safety  as a value
template <class Results>
class when_any_result {
 public:
  when_any_result(std::size_t first, Results&& all) : index(first), results(std::move(all)) {}

  std::size_t index;  ///< of the child that ended first, by value or exception
  Results results;    ///< a tuple or a vector: a result<T> for every child, in their order
};

/// Awaiter of when_any(awaitables...).
template <class... Ts>
class [[nodiscard]] when_any_awaiter : private detail::child_tuple<detail::group_kind::any, Ts...> {
  using results = std::tuple<result<Ts>...>;

 public:
  using tandem_awaiter = void;

  explicit when_any_awaiter(task<Ts>&&... children) noexcept
      : detail::child_tuple<detail::group_kind::any, Ts...>(std::move(children)...) {}
  /// For an awaiter that has not started.
  when_any_awaiter(when_any_awaiter&&) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return this->start_all(parent.promise());
  }
  when_any_result<results> await_resume() {
    return when_any_result<results>(
        this->index_of_first(),
        std::apply([](auto&... room) { return results{room.take()...}; }, this->rooms()));
  }
};

/// Awaiter of when_any(range).
template <class T>
class [[nodiscard]] when_any_range_awaiter
    : private detail::child_range<detail::group_kind::any, T> {
 public:
  using tandem_awaiter = void;

  explicit when_any_range_awaiter(std::vector<task<T>>&& children)
      : detail::child_range<detail::group_kind::any, T>(std::move(children)) {
    if (this->size() == 0) throw std::invalid_argument("when_any of no children would never end");
  }
  /// For an awaiter that has not started.
  when_any_range_awaiter(when_any_range_awaiter&&) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return this->start_all(parent.promise());
  }
  when_any_result<std::vector<result<T>>> await_resume() {
    std::vector<result<T>> results;
    results.reserve(this->size());
    for (std::size_t i = 0; i < this->size(); ++i) results.push_back(this->room(i).take());
    return when_any_result<std::vector<result<T>>>(this->index_of_first(), std::move(results));
  }
};

/// Runs all `children` at once, stops the others when the first has ended, and waits for all.
///
///     auto [index, results] = co_await tandem::when_any(inbox.receive(), tandem::sleep_for(1s));
///     auto& [letter, slept] = results;
///     if (letter) read(letter.value());  // even if the sleep was first
///
/// @param children  as for when_all(); at least one
/// @returns         who ended first, and the result of every child: one that lost may have a value
/// @throws          nothing that a child threw: that is in its result
/// @cancellation    a stop of the caller reaches all children, and shows in their results; the
///                  first to end stops the others with reason race_lost
/// @resumes_on      the caller's home, after all have ended: one that ignores its stop ends late,
///                  and one that has not begun when the first ends begins all the same
/// @cost            that of when_all()
template <detail::combinable... As>
  requires(sizeof...(As) > 0)
when_any_awaiter<detail::awaited_t<As>...> when_any(As&&... children) {
  return when_any_awaiter<detail::awaited_t<As>...>(detail::as_task(std::forward<As>(children))...);
}

/// As above for the elements of a range, which are moved from; the results are a vector.
///
/// @throws  std::invalid_argument if there is none; std::bad_alloc. Then none has started
template <detail::combinable_range Range>
auto when_any(Range&& children) {
  return when_any_range_awaiter(detail::collect_tasks(std::forward<Range>(children)));
}

}  // namespace tandem::inline v0
