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
#include <tandem/fork_each.hpp>

namespace tandem::inline v0::detail {

/// Base of awaiters: children of known number and types, with their rooms.
template <group_kind Kind, class... Ts>
class child_tuple : protected child_group {
 protected:
  explicit child_tuple(task<Ts>&&... children) noexcept
      : child_group(Kind), children_(std::move(children)...) {}
  /// For an awaiter that has not started.
  child_tuple(child_tuple&& other) noexcept
      : child_group(std::move(other)), children_(std::move(other.children_)) {}

  bool start_all(promise_base& parent) noexcept {
    if constexpr (sizeof...(Ts) == 0) {
      return false;
    } else {
      return start(this_thread(), parent, std::index_sequence_for<Ts...>());
    }
  }
  std::tuple<group_room<Kind, Ts>...>& rooms() noexcept { return rooms_; }
  std::size_t index_of_first() const noexcept {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return ((&std::get<I>(rooms_).result == first() ? I : 0U) + ... + 0U);
    }(std::index_sequence_for<Ts...>());
  }

 private:
  template <std::size_t... I>
  bool start(thread_context& context, promise_base& parent, std::index_sequence<I...>) noexcept {
    constexpr std::size_t count = sizeof...(Ts);
    promise_base* const children[] = {release_child(std::get<I>(children_))...};
    open(context, parent, count);
    const std::uint64_t segment = context.segment;
    (prepare(*children[I], std::get<I>(rooms_), parent, segment), ...);
    if (!forks_on_stack(context, parent)) [[unlikely]]
      return send(context, children, count);
    const std::int64_t end = context.lane->position() + std::int64_t{count} - 1;
    if constexpr (count > 1) {
      for (std::size_t i = count - 1; i > 0; --i) publish_sibling(context, *children[i]);
      look_for_thieves(context);
    }
    outcome_base* const results[] = {&std::get<I>(rooms_).result...};
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t index = end - static_cast<std::int64_t>(i);
      if (i > 0 && !take_known_sibling(context, index)) [[unlikely]]
        return settle(context, parent, i);  // joins/stolen, joins/give_way
      if (!call(context, *children[i])) [[unlikely]]
        return call_rest(context, parent, count, end, i + 1, i);
      if constexpr (Kind != group_kind::all) note_end(*results[i]);
    }
    close(context, parent);  // joins/all_here
    return false;
  }

  std::tuple<task<Ts>...> children_;
  std::tuple<group_room<Kind, Ts>...> rooms_;
};

/// Rooms for a number of children that is known when the group is made.
template <group_kind Kind, class T>
class group_rooms : public room_block<T> {
 public:
  using room_block<T>::room_block;
};
template <group_kind Kind, class T>
  requires(Kind != group_kind::all)
class group_rooms<Kind, T> {
 public:
  explicit group_rooms(std::size_t count) : rooms_(std::make_unique<child_room<T>[]>(count)) {}
  child_room<T>& operator[](std::size_t i) const noexcept { return rooms_[i]; }

 private:
  std::unique_ptr<child_room<T>[]> rooms_;
};

/// Base of awaiters: children of one type, as many as there are.
template <group_kind Kind, class T>
class child_range : protected child_group {
 protected:
  explicit child_range(std::vector<task<T>>&& children)
      : child_group(Kind), children_(std::move(children)), rooms_(children_.size()) {}
  /// For an awaiter that has not started.
  child_range(child_range&& other) noexcept
      : child_group(std::move(other)),
        children_(std::move(other.children_)),
        rooms_(std::move(other.rooms_)) {}

  bool start_all(promise_base& parent) noexcept {
    thread_context& context = this_thread();
    const std::size_t count = size();
    open(context, parent, count);
    const bool on_stack = forks_on_stack(context, parent);
    const std::int64_t end =
        on_stack ? context.lane->position() + static_cast<std::int64_t>(count) - 1 : 0;
    promise_base* child = nullptr;
    for (std::size_t i = count; i > 0;) {
      child = release_child(children_[--i]);
      prepare(*child, rooms_[i], parent, context.segment);
      if (i == 0) break;
      if (on_stack) [[likely]] {
        publish_sibling(context, *child);
      } else {
        send_child(context, *child);
      }
    }
    if (!on_stack) [[unlikely]]
      return send(context, &child, 1);
    if (count > 1) look_for_thieves(context);
    return call_rest(context, parent, count, end, 0, 0, child);
  }
  std::size_t size() const noexcept { return children_.size(); }
  group_room<Kind, T>& room(std::size_t i) noexcept { return rooms_[i]; }
  std::size_t index_of_first() const noexcept {
    std::size_t i = 0;
    while (&rooms_[i].result != first()) ++i;
    return i;
  }

 private:
  std::vector<task<T>> children_;
  group_rooms<Kind, T> rooms_;
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
