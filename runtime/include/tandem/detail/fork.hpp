// fork.hpp: how children are forked and joined.
// SPDX-License-Identifier: MIT
//
// Protocol joins:
//   publish    the join counts n; children n-1 .. 1 go to the lane; child 0 is called on the stack.
//              If thieves have found nothing in the lane, all of them become public at once: child 0
//              may compute for long, and only the owner can expose
//   next       it has ended, and the lane's newest is its sibling: that one is called; the join is
//              not touched
//   all_here   all n have ended on the stack: the parent goes on as if it had never suspended; no
//              atomic operation has happened on the join
//   stolen     the lane has lost the sibling to a thief: what has ended here is settled by one
//              subtraction. If that makes the join 0 the parent goes on, else it is suspended, and
//              the stack unwinds
//   settle     a child that was not called on the stack of its fork (stolen, or resumed after a
//              suspension) settles 1 when it ends; whoever brings the join to 0 goes on with the
//              parent
//   give_way   attention is asked for and another lane has something: settle as in joins/stolen,
//              leave the rest in the lane, and unwind to the loop, which serves one other item
//   suspended  a called child suspended: what ended before it is settled as in joins/stolen; with
//              nothing to settle, nothing is touched
// The nesting of calls makes joins/next sound: whatever a called child pushed is popped, stolen or
// settled when it has ended, so the lane's newest item is its sibling or the lane has lost that
// one.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>

#include <tandem/detail/fork_lane.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/detail/report_suppressed.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::detail {

/// One join, in the awaiter of the parent. Movable until it starts.
class join_frame {
 public:
  join_frame() noexcept {}
  join_frame(join_frame&&) noexcept : join_frame() {}
  join_frame& operator=(join_frame&&) = delete;

  /// joins/publish. Relaxed: published with the children.
  void expect(std::size_t count) noexcept {
    remaining_.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
  }
  /// joins. @returns whether all children have ended; if not, the join may be gone
  bool settle(std::size_t count) noexcept {
    // acq_rel: the last one sees what every child has written.
    const auto n = static_cast<std::uint32_t>(count);
    return remaining_.fetch_sub(n, std::memory_order_acq_rel) == n;
  }

  bool failed() const noexcept { return first_failed_.load(std::memory_order_relaxed) != nullptr; }
  /// After the join. Of the child that failed first; null if none has.
  std::exception_ptr take_failure() noexcept { return failed() ? take_first() : nullptr; }
  [[noreturn]] TANDEM_API void rethrow_first();
  /// pre: failed()
  TANDEM_API std::exception_ptr take_first() noexcept;
  /// The first failure by time is kept in its room, others are reported.
  TANDEM_API void note_failure(outcome_base& room, const environment& env) noexcept;

  /// joins/settle
  TANDEM_API static std::coroutine_handle<> child_ended(const ended_frame& child) noexcept;

  /// promise_base::link of the children: the lowest bit is set in no other link. (The address of
  /// child_ended is not the same everywhere: in an executable it may be that of a PLT entry.)
  void* as_link() noexcept {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(this) | 1U);  // NOLINT
  }
  /// @returns  null if `link` is no join's
  static join_frame* of_link(void* link) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(link);                     // NOLINT
    return (bits & 1U) != 0 ? reinterpret_cast<join_frame*>(bits - 1) : nullptr;  // NOLINT
  }

 private:
  std::atomic<std::uint32_t> remaining_;
  std::atomic<outcome_base*> first_failed_{nullptr};
};

/// A child's room: nothing of it is built before there is something to put in.
template <class T>
union fork_room {
  fork_room() noexcept { result.mark_empty(); }
  /// For an awaiter that has not started.
  fork_room(fork_room&&) noexcept : fork_room() {}
  ~fork_room() { result.destroy_value(); }
  outcome<T> result;
};

template <class T>
TANDEM_ALWAYS_INLINE task<T>& checked(task<T>& child) noexcept {
  TANDEM_ASSERT(child, "an empty task (default-constructed or moved from) was forked");
  return child;
}

template <class T>
TANDEM_ALWAYS_INLINE promise_base* release_child(task<T>& child) noexcept {
  promise_base* released = &checked(child).release();
  // One load for each: the ramps have just stored the frames one by one, and a load of two of them
  // at once would wait until both stores have left the store buffer.
  TANDEM_KEEP_APART(released);
  return released;
}

/// What a forked child starts with.
TANDEM_ALWAYS_INLINE void prepare_child(promise_base& child, promise_base& parent,
                                        outcome_base& room, join_frame& join,
                                        std::uint64_t segment) noexcept {
  child.inherit(parent, room, &join_frame::child_ended, join.as_link());
  child.segment = segment;
  child.next = nullptr;  // in a lane a frame is told from an invoke_job by it
}

/// joins/publish where no child can be called: no lane serves its home, or the stack is used up.
TANDEM_API void send_child(thread_context& context, promise_base& child) noexcept;
/// As above for all of a fork; the first goes on in this thread, after the stack has unwound.
TANDEM_API void send_children(thread_context& context, promise_base* const* children,
                              std::size_t count) noexcept;

TANDEM_ALWAYS_INLINE bool forks_on_stack(const thread_context& context,
                                         const promise_base& parent) noexcept {
  return context.lane_home == parent.home && !too_deep(context);
}

/// joins/publish
TANDEM_ALWAYS_INLINE void publish_child(thread_context& context, promise_base& child) noexcept {
  if (context.lane->push(&child)) [[unlikely]]
    (void)look_after_lane(context, lane_look::push);
}

/// joins/publish, one of several siblings; when all are there, look_for_thieves() follows.
TANDEM_ALWAYS_INLINE void publish_sibling(thread_context& context, promise_base& child) noexcept {
  context.lane->push_sibling(&child);
}
TANDEM_ALWAYS_INLINE void look_for_thieves(thread_context& context) noexcept {
  // Relaxed: a hint, look_after_lane reads it by an exchange.
  if (context.lane->attention.load(std::memory_order_relaxed)) [[unlikely]]
    (void)look_after_lane(context, lane_look::siblings);
}

TANDEM_ALWAYS_INLINE bool gives_way(thread_context& context) noexcept {
  // Relaxed: a hint, look_after_lane reads it by an exchange.
  return context.lane->attention.load(std::memory_order_relaxed) &&
         look_after_lane(context, lane_look::join);
}

/// joins/next, joins/stolen, joins/give_way. Takes the child that is to be called next out of the
/// lane.
/// @returns  null if the parent has to settle
TANDEM_ALWAYS_INLINE promise_base* take_sibling(thread_context& context) noexcept {
  if (gives_way(context)) [[unlikely]]
    return nullptr;
  return static_cast<promise_base*>(context.lane->pop());
}

/// As above where the caller knows which one it is, and where in the lane it went.
TANDEM_ALWAYS_INLINE bool take_known_sibling(thread_context& context, std::int64_t index) noexcept {
  if (gives_way(context)) [[unlikely]]
    return false;
  return context.lane->pop_private_at(index) || context.lane->take_back() != nullptr;
}

/// joins/stolen, joins/give_way, joins/suspended. Settles what has ended here. @returns whether the
/// parent suspends
inline bool settle_here(thread_context& context, promise_base& parent, join_frame& join,
                        std::size_t count) noexcept {
  if (!join.settle(count)) return true;
  // The child that suspended here may have left another environment, one that has ended with it.
  context.env = parent.env;
  return false;
}

}  // namespace tandem::inline v0::detail
