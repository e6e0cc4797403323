// child_range.hpp: the children of when_all, when_any and race as a tuple or a range of tasks.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/child_group.hpp>

namespace tandem::inline v0::detail {

/// Base of awaiters: children of known number and types, with their rooms.
template <class... Ts>
class child_tuple : protected child_group {
 protected:
  child_tuple(group_kind kind, task<Ts>&&... children) noexcept
      : child_group(kind), children_(std::move(children)...) {}
  /// For an awaiter that has not started.
  child_tuple(child_tuple&& other) noexcept
      : child_group(std::move(other)), children_(std::move(other.children_)) {}

  bool start_all(promise_base& parent) noexcept {
    return start_all(parent, std::index_sequence_for<Ts...>());
  }
  std::tuple<child_room<Ts>...>& rooms() noexcept { return rooms_; }
  std::size_t index_of_first() const noexcept {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return ((&std::get<I>(rooms_) == first() ? I : 0U) + ... + 0U);
    }(std::index_sequence_for<Ts...>());
  }

 private:
  template <std::size_t... I>
  bool start_all(promise_base& parent, std::index_sequence<I...>) noexcept {
    if constexpr (sizeof...(Ts) == 0) {
      return false;
    } else {
      promise_base* const frames[] = {&checked(std::get<I>(children_)).release()...};
      child_slot* const slots[] = {&std::get<I>(rooms_)...};
      return start(
          parent, std::integral_constant<std::size_t, sizeof...(Ts)>(),
          [&](std::size_t i) -> promise_base& { return *frames[i]; },
          [&](std::size_t i) -> child_slot& { return *slots[i]; });
    }
  }

  std::tuple<task<Ts>...> children_;
  std::tuple<child_room<Ts>...> rooms_;
};

/// Base of awaiters: children of one type, as many as there are.
template <class T>
class child_range : protected child_group {
 protected:
  child_range(group_kind kind, std::vector<task<T>>&& children)
      : child_group(kind),
        children_(std::move(children)),
        rooms_(std::make_unique<child_room<T>[]>(children_.size())) {}
  /// For an awaiter that has not started.
  child_range(child_range&& other) noexcept
      : child_group(std::move(other)),
        children_(std::move(other.children_)),
        rooms_(std::move(other.rooms_)) {}

  bool start_all(promise_base& parent) noexcept {
    return start(
        parent, size(),
        [this](std::size_t i) -> promise_base& { return checked(children_[i]).release(); },
        [rooms = rooms_.get()](std::size_t i) -> child_slot& { return rooms[i]; });
  }
  std::size_t size() const noexcept { return children_.size(); }
  child_room<T>& room(std::size_t i) noexcept { return rooms_[i]; }
  std::size_t index_of_first() const noexcept {
    return static_cast<std::size_t>(static_cast<const child_room<T>*>(first()) - rooms_.get());
  }

 private:
  std::vector<task<T>> children_;
  std::unique_ptr<child_room<T>[]> rooms_;
};

/// The elements of a range as tasks.
template <class Range>
auto collect_tasks(Range&& range) {
  using element = std::ranges::range_rvalue_reference_t<Range>;
  using tasks = std::vector<task<awaited_t<element>>>;
  if constexpr (std::is_same_v<std::remove_cvref_t<Range>, tasks>) {
    static_assert(!std::is_lvalue_reference_v<Range>,
                  "tasks are awaited once: write std::move(tasks) for a vector of them");
    return tasks(std::move(range));
  } else {
    tasks collected;
    if constexpr (std::ranges::sized_range<Range>) {
      collected.reserve(static_cast<std::size_t>(std::ranges::size(range)));
    }
    for (auto it = std::ranges::begin(range); it != std::ranges::end(range); ++it) {
      collected.push_back(as_task(std::ranges::iter_move(it)));
    }
    return collected;
  }
}

}  // namespace tandem::inline v0::detail
