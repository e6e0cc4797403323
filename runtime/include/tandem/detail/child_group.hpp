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
#include <exception>
#include <type_traits>
#include <utility>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/fork.hpp>
#include <tandem/environment.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::detail {

class child_group;

/// What the first one to end means for the others.
enum class group_kind : std::uint8_t {
  all,      ///< nothing; the first failure stops them
  any,      ///< they are stopped, and their results are kept
  race,     ///< they are stopped; what they threw is reported
  success,  ///< of those that fail nothing; the first that succeeds stops them, as in a race
};

/// What a group knows of a child whose end it notes (all kinds but `all`).
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
  child_room() noexcept : child_slot(result) {}
  /// For an awaiter that has not started.
  child_room(child_room&&) noexcept : child_room() {}

  /// After the join, once.
  tandem::result<T> take() {
    if (result.error != nullptr) return tandem::result<T>(std::exchange(result.error, nullptr));
    if constexpr (std::is_void_v<T>) {
      return tandem::result<T>();
    } else {
      return tandem::result<T>(std::in_place, result.value());
    }
  }

  outcome<T> result;
};

/// Of when_all nothing is noted but failures, as of a fork.
template <group_kind Kind, class T>
using group_room = std::conditional_t<Kind == group_kind::all, fork_room<T>, child_room<T>>;

class TANDEM_API child_group {
 protected:
  explicit child_group(group_kind kind) noexcept : kind_(kind) {}
  /// For awaiters that have not started.
  child_group(child_group&& other) noexcept : kind_(other.kind_) {}
  ~child_group() {}  // NOLINT: the environment has ended in close()

  /// groups/publish. Between this and the children's start each is prepared.
  void open(thread_context& context, promise_base& parent, std::size_t count) noexcept;
  template <class T>
  void prepare(promise_base& child, fork_room<T>& room, promise_base& parent,
               std::uint64_t segment) noexcept {
    prepare(child, room.result, parent, segment, &child_group::child_ended, failing_link());
  }
  template <class T>
  void prepare(promise_base& child, child_room<T>& room, promise_base& parent,
               std::uint64_t segment) noexcept {
    room.group = this;
    prepare(child, room.result, parent, segment, &child_group::noted_child_ended, &room);
  }
  /// groups/start. Where the parent is not on a worker's stack.
  bool send(thread_context& context, promise_base* const* children, std::size_t count) noexcept {
    send_children(context, children, count);
    return true;
  }
  /// groups/start. Calls those that are left, one after the other: those before `at` have been
  /// called, and `ended` of them have ended here. With none the group may be gone already.
  ///
  /// @param end    the lane's position when all children were in it: child i lies at end - i
  /// @param taken  child `at`, if it is not in the lane; else null
  /// @returns      whether the parent suspends
  bool call_rest(thread_context& context, promise_base& parent, std::size_t count, std::int64_t end,
                 std::size_t at, std::size_t ended, promise_base* taken = nullptr) noexcept;
  /// groups/note. Of all kinds but `all`.
  void note_end(outcome_base& room) noexcept;
  /// groups/settle. @returns whether the parent suspends
  bool settle(thread_context& context, promise_base& parent, std::size_t count) noexcept;
  void close(thread_context& context, promise_base& parent) noexcept;

  /// After the join, but of `all`: the room of the child that ended first; of success: null if none
  /// has succeeded.
  outcome_base* first() const noexcept { return first_.load(std::memory_order_relaxed); }
  /// After the join of all (groups/cancelled). @throws the first failure; else a cancellation that
  /// kept a child from its value
  TANDEM_ALWAYS_INLINE void rethrow_failure() {
    // Relaxed, both: the join has ordered the ends of the children before us.
    if (first() != nullptr || cut_short_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      std::rethrow_exception(take_failure());
  }
  /// The same, handed out; null: none.
  std::exception_ptr take_failure() noexcept;

 private:
  static std::coroutine_handle<> child_ended(const ended_frame& child) noexcept;
  static std::coroutine_handle<> noted_child_ended(const ended_frame& child) noexcept;
  static void child_failed(const environment& of, outcome_base& room) noexcept;
  std::coroutine_handle<> settle_one(const ended_frame& child) noexcept;
  void note_failure(outcome_base& room) noexcept;
  static const environment_kind surrounds_children;

  void prepare(promise_base& child, outcome_base& room, promise_base& parent, std::uint64_t segment,
               promise_base::final_function ended, void* link) noexcept {
    child.start_below(env_, parent, room, ended, link);
    child.segment = segment;
    child.next = nullptr;  // in a lane a frame is told from an invoke_job by it
  }
  /// promise_base::link of the children of when_all.
  void* failing_link() noexcept { return promise_base::failing_into_environment(this); }

  const group_kind kind_;
  std::atomic<std::uint32_t> remaining_;  // groups/settle: children that have not been settled
  // groups/note: whoever ended (any, race), succeeded, or failed (all) first; set once, by a CAS.
  std::atomic<outcome_base*> first_{nullptr};
  std::atomic<outcome_base*> cut_short_{nullptr};  // all: the first that gave up because of a stop
  union {
    environment env_;  // from open() to close()
  };
};

}  // namespace tandem::inline v0::detail
