// promise_base.hpp: the part of a task's promise that does not depend on its result.
// SPDX-License-Identifier: MIT
//
// It stands at offset 0 of every promise and no promise is aligned above 16 bytes, so a
// promise_base* names the frame: queues, joins and a task dump need nothing else.
//
//   env, home      what the frame inherits: copied as a pair
//   continuation   the frame that awaits this one; null for a root
//   on_final       null: hand over to the continuation. Else called once after the end (roots,
//                  joins); returns the handle to go on with
//   link           belongs to whoever set on_final
//   segment        where the starter called the frame on its own stack: that segment (calls/call);
//                  else 0. While it is queued, and its task observed, since when (records/queued):
//                  no segment has such a number
//   room           where the result goes
//
// Nothing of it is set before the frame is started: whoever starts it sets all. Once started a
// frame belongs to itself and ends itself: first its result is in the room, then the frame and its
// arguments are gone, then the starter hears of it. Protocol calls: runtime/src/task/README.md.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <source_location>

#include <tandem/config.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/observing.hpp>
#include <tandem/detail/outcome.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0::detail {

class promise_base;

/// What is left of a frame that has ended.
struct ended_frame {
  promise_base* continuation;
  executor* home;  // where it ended
  void* link;
};

class promise_base : public job, public frame_allocated {
 public:
  using final_function = std::coroutine_handle<> (*)(const ended_frame& ended) noexcept;

  promise_base() noexcept : job(&promise_base::resume_job, set_later()) {}
  promise_base(const promise_base&) = delete;
  promise_base& operator=(const promise_base&) = delete;

  std::coroutine_handle<> handle() noexcept {
    return std::coroutine_handle<promise_base>::from_promise(*this);
  }

  /// What a child takes over from the frame that starts it. Not called on its stack, no on_final.
  void inherit(promise_base& parent, outcome_base& result) noexcept {
    env = parent.env;
    home = parent.home;
    continuation = &parent;
    on_final = nullptr;
    segment = 0;
    room = &result;
  }
  /// As above, for combinators.
  void inherit(promise_base& parent, outcome_base& result, final_function f, void* of_f) noexcept {
    inherit(parent, result);
    on_final = f;
    link = of_f;
  }
  /// As above, below an environment of the combinator's own. The segment is still to be set.
  void start_below(environment& surrounding, promise_base& parent, outcome_base& result,
                   final_function f, void* of_f) noexcept {
    env = &surrounding;
    home = parent.home;
    continuation = &parent;
    on_final = f;
    link = of_f;
    room = &result;
  }

  /// A link of frames that tell their environment's kind when they have thrown
  /// (environment_kind::failed); their room need not be built. The second bit is set in no other.
  static void* failing_into_environment(void* link) noexcept {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(link) | 2U);  // NOLINT
  }
  static void* without_bits(void* link) noexcept {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(link) &
                                   ~std::uintptr_t{3});  // NOLINT
  }
  bool fails_into_environment() const noexcept {
    return on_final != nullptr && (reinterpret_cast<std::uintptr_t>(link) & 2U) != 0;  // NOLINT
  }

  /// The line of the co_await where it was suspended last; line 0 where that is not kept.
  std::source_location awaited_at() const noexcept {
#if TANDEM_ABI_AWAIT_LINES
    return awaits_at;
#else
    return {};
#endif
  }
  void post(post_kind kind = post_kind::resume) noexcept {
    note_queued();
    home->post(this, kind);
  }
  /// records/queued. For who puts it into a batch instead.
  void note_queued() noexcept {
    if (tasks_are_observed()) [[unlikely]]
      mark_queued(*this);
  }

  TANDEM_API void unhandled_exception() noexcept;

  executor* home;
  promise_base* continuation;
  final_function on_final;
  void* link;
  std::uint64_t segment;
  outcome_base* room;
#if TANDEM_ABI_AWAIT_LINES
  std::source_location awaits_at;  // written by the frame before it suspends, or calls a child
#endif

 private:
  TANDEM_API static void resume_job(job* self) noexcept;
};

/// What to go on with after a frame that ended at `home`: `waiting` itself if it lives there, too;
/// else that costs one post, and this thread has nothing to go on with.
inline std::coroutine_handle<> continue_with(promise_base& waiting, const executor* home) noexcept {
  if (waiting.home == home) [[likely]]
    return waiting.handle();
  waiting.post();
  return std::noop_coroutine();
}

/// Destroys a frame that was never started, and the unstarted tasks among its arguments: however
/// many there are around each other, it is no more than some 64 KiB deep. What lies deeper is
/// destroyed after that, still inside the outermost call.
TANDEM_API void destroy_unstarted(promise_base& frame) noexcept;

/// Ends a frame that was not called on this stack. @returns what to go on with
TANDEM_API std::coroutine_handle<> end_frame(promise_base& ended) noexcept;

/// calls/call. Runs a child that was given the current segment. @returns whether it has ended; if
/// not, the caller is suspended like any other coroutine, and may be running elsewhere already
TANDEM_ALWAYS_INLINE bool call(thread_context& context, promise_base& child) noexcept {
  child.handle().resume();
  if (!context.child_done) [[unlikely]]
    return false;
  context.child_done = false;
  return true;
}

/// calls/limit. Whether the stack has no room left for a nested call.
TANDEM_ALWAYS_INLINE bool too_deep(const thread_context& context) noexcept {
  return static_cast<const char*>(TANDEM_FRAME_ADDRESS()) < context.stack_limit;
}

class final_awaiter {
 public:
  explicit final_awaiter(bool on_stack) noexcept : on_stack_(on_stack) {}

  /// calls/end_here. True: the frame ends as the coroutine returns, and its caller goes on.
  bool await_ready() const noexcept { return on_stack_; }

  template <class Promise>
  TANDEM_ALWAYS_INLINE std::coroutine_handle<> await_suspend(
      std::coroutine_handle<Promise> ended) const noexcept {
    return transfer(end_frame(ended.promise()));
  }

  void await_resume() const noexcept {}

 private:
  bool on_stack_;
};

/// What final_suspend() of a promise returns: calls/end_here, else calls/end_elsewhere.
TANDEM_ALWAYS_INLINE final_awaiter end_of(const promise_base& self) noexcept {
  thread_context& context = this_thread();
  if (self.segment == context.segment) [[likely]] {
    context.child_done = true;
    return final_awaiter(true);
  }
  return final_awaiter(false);
}

}  // namespace tandem::inline v0::detail
