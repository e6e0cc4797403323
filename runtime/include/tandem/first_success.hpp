// first_success.hpp: the value of whichever awaitable succeeds first; failures count if all fail.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/all_failed.hpp>
#include <tandem/detail/as_task.hpp>
#include <tandem/detail/child_range.hpp>
#include <tandem/race.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// Awaiter of first_success(awaitables...).
template <class... Ts>
class [[nodiscard]] first_success_awaiter
    : private detail::child_tuple<detail::group_kind::success, Ts...> {
 public:
  using tandem_awaiter = void;
  using value_type = typename detail::raced<Ts...>::type;

  explicit first_success_awaiter(task<Ts>&&... children) noexcept
      : detail::child_tuple<detail::group_kind::success, Ts...>(std::move(children)...) {}
  /// For an awaiter that has not started.
  first_success_awaiter(first_success_awaiter&&) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return this->start_all(parent.promise());
  }
  std::exception_ptr await_failure() noexcept {
    if (this->first() != nullptr) return nullptr;
    return std::apply(
        [](auto&... room) {
          detail::outcome_base* const all[] = {&room.result...};
          return detail::failure_of_all(sizeof...(Ts),
                                        [&all](std::size_t i) -> auto& { return *all[i]; });
        },
        this->rooms());
  }
  value_type await_resume() {
    if (std::exception_ptr failure = await_failure()) std::rethrow_exception(std::move(failure));
    return detail::raced<Ts...>::take(this->rooms(), this->index_of_first());
  }
};

/// Awaiter of first_success(range).
template <class T>
class [[nodiscard]] first_success_range_awaiter
    : private detail::child_range<detail::group_kind::success, T> {
 public:
  using tandem_awaiter = void;
  using value_type = T;

  explicit first_success_range_awaiter(std::vector<task<T>>&& children)
      : detail::child_range<detail::group_kind::success, T>(std::move(children)) {
    if (this->size() == 0) throw std::invalid_argument("first_success of no children");
  }
  /// For an awaiter that has not started.
  first_success_range_awaiter(first_success_range_awaiter&&) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return this->start_all(parent.promise());
  }
  std::exception_ptr await_failure() noexcept {
    if (this->first() != nullptr) return nullptr;
    return detail::failure_of_all(this->size(),
                                  [this](std::size_t i) -> auto& { return this->room(i).result; });
  }
  T await_resume() {
    if (std::exception_ptr failure = await_failure()) std::rethrow_exception(std::move(failure));
    return this->room(this->index_of_first()).result.value();
  }
};

/// Runs all `children` at once; the first to succeed stops the others, and its value is what comes
/// out. A child that fails is out of it, and the others go on.
///
///     std::string page = co_await tandem::first_success(fetch(mirror_a), fetch(mirror_b));
///
/// @param children  as for race(), and as there nothing whose result must not be dropped; at least
///                  one
/// @returns         the value of the first that succeeded; if their types differ, a std::variant
///                  whose index says who it was (std::monostate for void)
/// @throws          all_failed, with the failure of each, if none succeeds. Failures before a
///                  success are forgotten, as those that retry() gets over; one that comes after it
///                  goes to runtime_options::on_suppressed_exception, unless it is that the child
///                  was stopped. operation_cancelled if a stop kept a child from its end and none
///                  has succeeded (the failures of others are then reported)
/// @cancellation    a stop of the caller reaches all children; the others are stopped with reason
///                  race_lost. May lose the race and return a value
/// @resumes_on      the caller's home, after all have ended: one that ignores its stop ends late.
///                  One that has not begun when the first succeeds begins all the same
/// @cost            that of when_all()
template <detail::combinable... As>
  requires(sizeof...(As) > 0)
first_success_awaiter<detail::awaited_t<As>...> first_success(As&&... children) {
  static_assert(detail::may_race<As...>,
                "first_success drops what the others produce: an accepted connection or bytes that "
                "were read would be lost. Use when_any, which gives the result of each");
  return first_success_awaiter<detail::awaited_t<As>...>(
      detail::as_task(std::forward<As>(children))...);
}

/// As above for the elements of a range, which are moved from.
///
/// @throws  std::invalid_argument if there is none; std::bad_alloc. Then none has started
template <detail::combinable_range Range>
auto first_success(Range&& children) {
  static_assert(
      detail::may_race<std::ranges::range_rvalue_reference_t<Range>>,
      "first_success drops what the others produce: use when_any, which gives each result");
  return first_success_range_awaiter(detail::collect_tasks(std::forward<Range>(children)));
}

}  // namespace tandem::inline v0
