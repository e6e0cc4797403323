// fork_each.hpp: forks children that a callable makes, and waits for all of them.
// SPDX-License-Identifier: MIT
//
// The fork for recursions with many or a varying number of children: nothing is collected first.
// The children's frames go from the callable straight into the worker's lane, and their results lie
// in one block from the frames' memory. Protocol: detail/fork.hpp, joins.
#pragma once

#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <tandem/detail/fork.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class T>
inline constexpr bool is_a_task = false;
template <class T>
inline constexpr bool is_a_task<task<T>> = true;

template <class Make, bool IsMaker>
struct made {
  using value = void;
};
template <class Make>
struct made<Make, true> {
  using value = typename std::invoke_result_t<Make&, std::size_t>::value_type;
};

template <class Make>
constexpr bool makes_tasks() noexcept {
  if constexpr (std::is_invocable_v<Make&, std::size_t>) {
    return is_a_task<std::invoke_result_t<Make&, std::size_t>>;
  } else {
    return false;
  }
}

template <class Make>
using made_value = typename made<Make, makes_tasks<Make>()>::value;

/// Rooms for a number of children that is known when the fork is made.
template <class T>
class room_block {
 public:
  explicit room_block(std::size_t count)
      : rooms_(static_cast<fork_room<T>*>(allocate_frame(bytes_of(count)))), count_(count) {
    for (std::size_t i = 0; i < count; ++i) ::new (static_cast<void*>(rooms_ + i)) fork_room<T>();
  }
  room_block(room_block&& other) noexcept
      : rooms_(std::exchange(other.rooms_, nullptr)), count_(other.count_) {}
  room_block& operator=(room_block&&) = delete;
  ~room_block() {
    if (rooms_ == nullptr) return;  // else the size has been checked
    std::destroy_n(rooms_, count_);
    free_frame(rooms_, bytes_of(count_));
  }
  fork_room<T>& operator[](std::size_t i) const noexcept { return rooms_[i]; }
  std::size_t size() const noexcept { return count_; }

 private:
  static constexpr std::size_t bytes_of(std::size_t count) {
    if (count >= static_cast<std::size_t>(-1) / sizeof(fork_room<T>) - 1) {
      throw std::bad_array_new_length();
    }
    return sizeof(fork_room<T>) * (count + 1);  // never 0
  }
  fork_room<T>* rooms_;
  std::size_t count_;
};

/// Forks what `make` gives for 0 .. count-1. @returns whether the parent suspends
template <class Make, class Rooms>
bool start_each(thread_context& context, promise_base& parent, join_frame& join, Rooms& rooms,
                std::size_t count, Make& make) noexcept {
  const std::uint64_t segment = context.segment;
  const bool on_stack = forks_on_stack(context, parent);
  join.expect(count);  // joins/publish
  std::size_t left = count;
  promise_base* first = nullptr;
  try {
    while (left > 0) {
      auto made = make(left - 1);
      promise_base& child = checked(made).release();
      prepare_child(child, parent, rooms[left - 1].result, join, segment);
      --left;
      if (left == 0) {
        first = &child;
      } else if (on_stack) [[likely]] {
        publish_sibling(context, child);
      } else {
        send_child(context, child);
      }
    }
  } catch (...) {
    // What could not be made counts as ended, and failed.
    outcome_base& room = rooms[left - 1].result;
    std::construct_at(&room.error, std::current_exception());
    join.note_failure(room, *parent.env);
  }
  std::size_t ended = left;
  if (!on_stack) [[unlikely]] {
    if (first != nullptr) send_children(context, &first, 1);
    return ended == 0 || !join.settle(ended);
  }
  if (count - left > 1) [[likely]]
    look_for_thieves(context);
  if (first != nullptr) [[likely]] {
    if (!call(context, *first)) [[unlikely]]
      return true;
    ended = 1;
  }
  for (; ended < count; ++ended) {
    promise_base* const sibling = take_sibling(context);
    if (sibling == nullptr || !call(context, *sibling)) [[unlikely]]
      // joins/stolen, joins/give_way, joins/suspended
      return settle_here(context, parent, join, ended);
  }
  return false;  // joins/all_here
}

}  // namespace detail

/// The results of fork_each(count, make), in the order of the children.
///
/// @thread_safety  as a value
template <class T>
class fork_results {
 public:
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    iterator() noexcept = default;
    iterator(const detail::room_block<T>* rooms, std::size_t i) noexcept : rooms_(rooms), i_(i) {}
    T& operator*() const noexcept { return (*rooms_)[i_].result.value_ref(); }
    iterator& operator++() noexcept {
      ++i_;
      return *this;
    }
    iterator operator++(int) noexcept { return iterator(rooms_, i_++); }
    bool operator==(const iterator& other) const noexcept { return i_ == other.i_; }

   private:
    const detail::room_block<T>* rooms_ = nullptr;
    std::size_t i_ = 0;
  };

  std::size_t size() const noexcept { return rooms_.size(); }
  bool empty() const noexcept { return size() == 0; }
  T& operator[](std::size_t i) const noexcept { return rooms_[i].result.value_ref(); }
  iterator begin() const noexcept { return iterator(&rooms_, 0); }
  iterator end() const noexcept { return iterator(&rooms_, size()); }

  // Implementation
  explicit fork_results(detail::room_block<T>&& rooms) noexcept : rooms_(std::move(rooms)) {}

 private:
  detail::room_block<T> rooms_;
};

/// Awaiter of fork_each(count, make).
template <class Make>
class [[nodiscard]] fork_each_awaiter {
  using value = detail::made_value<Make>;

 public:
  using tandem_awaiter = void;

  fork_each_awaiter(std::size_t count, Make&& make) : make_(std::move(make)), rooms_(count) {}
  /// For an awaiter that has not started.
  fork_each_awaiter(fork_each_awaiter&& other) noexcept
      : make_(std::move(other.make_)), rooms_(std::move(other.rooms_)) {}

  bool await_ready() const noexcept { return rooms_.size() == 0; }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return detail::start_each(detail::this_thread(), parent.promise(), join_, rooms_, rooms_.size(),
                              make_);
  }
  std::exception_ptr await_failure() noexcept { return join_.take_failure(); }
  auto await_resume() {
    if (join_.failed()) [[unlikely]]
      join_.rethrow_first();
    if constexpr (!std::is_void_v<value>) return fork_results<value>(std::move(rooms_));
  }

 private:
  Make make_;
  detail::join_frame join_;
  detail::room_block<value> rooms_;
};

/// Awaiter of fork_each<N>(make).
template <std::size_t N, class Make>
class [[nodiscard]] fork_each_n_awaiter {
  using value = detail::made_value<Make>;

 public:
  using tandem_awaiter = void;

  explicit fork_each_n_awaiter(Make&& make) : make_(std::move(make)) {}
  /// For an awaiter that has not started.
  fork_each_n_awaiter(fork_each_n_awaiter&& other) noexcept : make_(std::move(other.make_)) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
    return detail::start_each(detail::this_thread(), parent.promise(), join_, rooms_, N, make_);
  }
  std::exception_ptr await_failure() noexcept { return join_.take_failure(); }
  auto await_resume() {
    if (join_.failed()) [[unlikely]]
      join_.rethrow_first();
    if constexpr (!std::is_void_v<value>) {
      return [this]<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<value, N>{rooms_[I].result.value()...};
      }(std::make_index_sequence<N>());
    }
  }

 private:
  Make make_;
  detail::join_frame join_;
  std::array<detail::fork_room<value>, N> rooms_;
};

/// Forks make(0) .. make(count - 1), which are tasks, and waits for all; yields their results as a
/// range, nothing for void.
///
///     tandem::task<long> leaves(const node& at) {
///       if (at.children.empty()) co_return 1;
///       long sum = 0;
///       for (long each : co_await tandem::fork_each(at.children.size(), [&](std::size_t i) {
///              return leaves(at.children[i]);
///            })) sum += each;
///       co_return sum;
///     }
///
/// @param make     called count times, last index first, before the caller runs the first child;
///                 meanwhile mostly nobody else can take one, so it makes tasks and leaves the work
///                 to them. Moved into the await, so it may capture. If it throws, what it has made
///                 runs, and then the exception comes out
/// @throws         the first failure by time, after all children have ended (it does not stop
///                 them); later ones go to runtime_options::on_suppressed_exception; std::bad_alloc
/// @cancellation   a stop of the task reaches what the children await; children that only compute
///                 call throw_if_stopped(); the fork itself waits for all
/// @resumes_on     the caller's home; the children start at the same home, may suspend and move
/// @cost           per child one push, one pop and one call; one block for the results
template <class Make>
TANDEM_ALWAYS_INLINE fork_each_awaiter<std::decay_t<Make>> fork_each(std::size_t count,
                                                                     Make&& make) {
  static_assert(detail::makes_tasks<std::decay_t<Make>>(),
                "make(i), with i a std::size_t, has to return a tandem::task");
  static_assert(detail::safe_in_co_await<Make&&>,
                "g++ 12 destroys a temporary lambda that captures objects with destructors twice: "
                "name it first, and pass the name");
  return fork_each_awaiter<std::decay_t<Make>>(count, std::decay_t<Make>(std::forward<Make>(make)));
}

/// As above for a number known when compiling; yields std::array, and allocates nothing.
template <std::size_t N, class Make>
  requires(N > 0)
TANDEM_ALWAYS_INLINE fork_each_n_awaiter<N, std::decay_t<Make>> fork_each(Make&& make) {
  static_assert(detail::makes_tasks<std::decay_t<Make>>(),
                "make(i), with i a std::size_t, has to return a tandem::task");
  static_assert(detail::safe_in_co_await<Make&&>,
                "g++ 12 destroys a temporary lambda that captures objects with destructors twice: "
                "name it first, and pass the name");
  return fork_each_n_awaiter<N, std::decay_t<Make>>(std::decay_t<Make>(std::forward<Make>(make)));
}

}  // namespace tandem::inline v0
