// race.hpp: the value of whichever awaitable is first; what the others produce is dropped.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <ranges>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/child_range.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class T, class... Ts>
struct raced {
  static constexpr bool same = (std::is_same_v<T, Ts> && ...);
  static_assert(same || !(std::is_reference_v<T> || (std::is_reference_v<Ts> || ...)),
                "a race of children of different types yields a variant: return pointers");
  template <class U>
  using stored = std::conditional_t<std::is_void_v<U>, std::monostate, U>;
  struct as_variant {
    using type = std::variant<stored<T>, stored<Ts>...>;
  };
  using type = typename std::conditional_t<same, std::type_identity<T>, as_variant>::type;

  /// @param rooms  of all children, as a tuple
  template <std::size_t I = 0, class Rooms>
  static type take(Rooms& rooms, std::size_t winner) {
    if constexpr (I < sizeof...(Ts)) {
      if (winner != I) return take<I + 1>(rooms, winner);
    }
    auto& room = std::get<I>(rooms).result;
    if constexpr (same) {
      return static_cast<type>(room.value());
    } else if constexpr (std::is_void_v<std::tuple_element_t<I, std::tuple<T, Ts...>>>) {
      return type(std::in_place_index<I>);
    } else {
      return type(std::in_place_index<I>, room.value());
    }
  }
};

template <class... As>
inline constexpr bool may_race = !(lossy_when_dropped<As> || ...);

}  // namespace detail

/// Awaiter of race(awaitables...).
template <class... Ts>
class [[nodiscard]] race_awaiter : private detail::child_tuple<detail::group_kind::race, Ts...> {
 public:
  using tandem_awaiter = void;
  using value_type = typename detail::raced<Ts...>::type;

  explicit race_awaiter(task<Ts>&&... children) noexcept
      : detail::child_tuple<detail::group_kind::race, Ts...>(std::move(children)...) {}
  /// For an awaiter that has not started.
  race_awaiter(race_awaiter&&) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return this->start_all(parent.promise());
  }
  std::exception_ptr await_failure() noexcept { return this->first()->take_failure(); }
  value_type await_resume() {
    this->first()->rethrow_if_failed();
    return detail::raced<Ts...>::take(this->rooms(), this->index_of_first());
  }
};

/// Awaiter of race(range).
template <class T>
class [[nodiscard]] race_range_awaiter : private detail::child_range<detail::group_kind::race, T> {
 public:
  using tandem_awaiter = void;
  using value_type = T;

  explicit race_range_awaiter(std::vector<task<T>>&& children)
      : detail::child_range<detail::group_kind::race, T>(std::move(children)) {
    if (this->size() == 0) throw std::invalid_argument("a race of no children would never end");
  }
  /// For an awaiter that has not started.
  race_range_awaiter(race_range_awaiter&&) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return this->start_all(parent.promise());
  }
  std::exception_ptr await_failure() noexcept { return this->first()->take_failure(); }
  T await_resume() {
    this->first()->rethrow_if_failed();
    return this->room(this->index_of_first()).result.value();
  }
};

/// Runs all `children` at once; the first to end stops the others, and decides.
///
///     std::string page = co_await tandem::race(fetch(mirror_a), fetch(mirror_b));
///
/// @param children  as for when_all(); at least one. Awaitables whose result must not be dropped
///                  (accept, read, receive) are refused when compiling: use when_any(). That cannot
///                  be seen inside a task: do not wrap one
/// @returns         the first one's value; if their types differ, a std::variant whose index says
///                  who it was (std::monostate for void)
/// @throws          what the first one threw; failures of the others go to
///                  runtime_options::on_suppressed_exception, but not that they were stopped
/// @cancellation    a stop of the caller reaches all children; the others are stopped with reason
///                  race_lost
/// @resumes_on      the caller's home, after all have ended: one that ignores its stop ends late.
///                  One that has not begun when the first ends begins all the same; if it only
///                  computes it has to ask (stop_requested())
/// @cost            that of when_all()
template <detail::combinable... As>
  requires(sizeof...(As) > 0)
race_awaiter<detail::awaited_t<As>...> race(As&&... children) {
  static_assert(detail::may_race<As...>,
                "a race drops what the others produce: an accepted connection or bytes that were "
                "read would be lost. Use when_any, which gives the result of each");
  return race_awaiter<detail::awaited_t<As>...>(detail::as_task(std::forward<As>(children))...);
}

/// As above for the elements of a range, which are moved from.
///
/// @throws  std::invalid_argument if there is none; std::bad_alloc. Then none has started
template <detail::combinable_range Range>
auto race(Range&& children) {
  static_assert(detail::may_race<std::ranges::range_rvalue_reference_t<Range>>,
                "a race drops what the others produce: use when_any, which gives each result");
  return race_range_awaiter(detail::collect_tasks(std::forward<Range>(children)));
}

}  // namespace tandem::inline v0
