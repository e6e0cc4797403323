// child_group.hpp: children that run at once below one stop state: the core of when_all, any, race.
// SPDX-License-Identifier: MIT
//
// The group lives in the parent's awaiter. Its children are forked as by fork_join (joins), but
// below an environment of their own, which all of them share, so that the first failure, or the
// first end, can stop the others. Protocol groups: runtime/src/combine/README.md.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/fork.hpp>
#include <tandem/environment.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::detail {

class child_group;

/// What a group knows of a child.
struct child_slot {
  explicit child_slot(outcome_base& room) noexcept : place(&room) {}
  child_slot(const child_slot&) = delete;
  child_slot& operator=(const child_slot&) = delete;

  child_group* group = nullptr;
  outcome_base* place;  // where its result goes
};

/// A child's slot with its result.
template <class T>
struct child_room : child_slot {
  child_room() noexcept : child_slot(room) {}
  /// For an awaiter that has not started.
  child_room(child_room&&) noexcept : child_room() {}

  /// After the join, once.
  result<T> take() {
    if (room.error != nullptr) return result<T>(std::exchange(room.error, nullptr));
    if constexpr (std::is_void_v<T>) {
      return result<T>();
    } else {
      return result<T>(std::in_place, room.value());
    }
  }

  outcome<T> room;
};

/// What the first one to end means for the others.
enum class group_kind : std::uint8_t {
  all,   ///< nothing; the first failure stops them
  any,   ///< they are stopped, and their results are kept
  race,  ///< they are stopped; what they threw is reported
};

class TANDEM_API child_group {
 protected:
  explicit child_group(group_kind kind) noexcept : kind_(kind) {}
  /// For awaiters that have not started.
  child_group(child_group&& other) noexcept : kind_(other.kind_) {}
  ~child_group() = default;

  /// groups/publish, groups/start. Starts child i, which `release(i)` gives away, with the slot
  /// `slot(i)`.
  /// @param number  how many; as a constant where it is one: g++ 12 loses it on the way to the
  ///                loops, and takes the second child of one to be read
  /// @returns       whether the parent suspends
  template <class Number, class Release, class Slot>
  bool start(promise_base& parent, Number number, Release release, Slot slot) noexcept;

  /// After the join. Of a race or any: the child that ended first.
  const child_slot* first() const noexcept { return first_.load(std::memory_order_relaxed); }
  /// After the join (groups/cancelled). @throws the first failure; else a cancellation that kept a
  /// child from its value
  void rethrow_failure() {
    if (const child_slot* const failed = decisive()) [[unlikely]]
      failed->place->rethrow_if_failed();
  }
  /// The same, handed out; null: none.
  std::exception_ptr take_failure() noexcept {
    const child_slot* const failed = decisive();
    return failed != nullptr ? failed->place->take_failure() : nullptr;
  }

 private:
  /// Whose outcome is the group's; null: nobody failed, or was first.
  const child_slot* decisive() const noexcept {
    // Relaxed, both: the join has ordered the ends of the children before us.
    const child_slot* const first = first_.load(std::memory_order_relaxed);
    return first != nullptr ? first : cut_short_.load(std::memory_order_relaxed);
  }
  static std::coroutine_handle<> child_ended(const ended_frame& child) noexcept;
  void open(thread_context& context, promise_base& parent, std::size_t count) noexcept;
  bool settle(thread_context& context, promise_base& parent, std::size_t count) noexcept;
  void close(thread_context& context, promise_base& parent) noexcept;
  void note_end(child_slot& slot) noexcept;
  static const environment_kind surrounds_children;

  promise_base& prepare(promise_base& child, child_slot& slot, promise_base& parent,
                        std::uint64_t segment) noexcept {
    slot.group = this;
    child.inherit(parent, *slot.place, &child_group::child_ended, &slot);
    child.env = &env_;
    child.segment = segment;
    child.next = nullptr;  // in a lane a frame is told from an invoke_job by it
    return child;
  }
  /// groups/note, for a child that ended on its parent's stack.
  void ended_here(child_slot& slot) noexcept {
    if (kind_ != group_kind::all || slot.place->error != nullptr) note_end(slot);
  }

  group_kind kind_;
  std::atomic<std::uint32_t> remaining_{0};  // groups/settle: children that have not been settled
  // groups/note: whoever ended (any, race) or failed (all) first; set once, by a CAS.
  std::atomic<child_slot*> first_{nullptr};
  std::atomic<child_slot*> cut_short_{nullptr};  // all: the first that gave up because of a stop
  environment env_;
};

template <class Number, class Release, class Slot>
bool child_group::start(promise_base& parent, Number number, Release release, Slot slot) noexcept {
  const std::size_t count = number;
  thread_context& context = this_thread();
  open(context, parent, count);
  const bool on_stack = forks_on_stack(context, parent);
  const std::uint64_t segment = on_stack ? context.segment : 0;
  for (std::size_t i = count - 1; i > 0; --i) {
    promise_base& child = prepare(release(i), slot(i), parent, segment);
    if (on_stack) [[likely]] {
      publish_child(context, child);
    } else {
      send_child(context, child);
    }
  }
  promise_base* const first = &prepare(release(0), slot(0), parent, segment);
  if (!on_stack) [[unlikely]] {
    send_children(context, &first, 1);
    return true;
  }
  if (!call(context, *first)) return true;  // joins/suspended: nothing has ended here
  ended_here(slot(0));
  for (std::size_t ended = 1; ended < count; ++ended) {
    promise_base* const sibling = take_sibling(context);  // joins/next: it is child `ended`
    if (sibling == nullptr || !call(context, *sibling)) return settle(context, parent, ended);
    ended_here(slot(ended));
  }
  close(context, parent);  // joins/all_here
  return false;
}

}  // namespace tandem::inline v0::detail
