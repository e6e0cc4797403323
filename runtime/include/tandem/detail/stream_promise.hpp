// stream_promise.hpp: the parts of a stream's coroutine, and of its consumer's cursor, that do not depend on the item.
// SPDX-License-Identifier: MIT
//
// A next() is a call of the stream's frame (calls/call), and a co_yield ends the call as the end of
// a task would, except that the frame stays. So whatever can start a task and hear of its end can
// take an item. Protocol streams: runtime/src/stream/README.md.
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <utility>

#include <tandem/detail/await_transform.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/errors.hpp>

namespace tandem::inline v0::detail {

class stream_promise_base;

/// The consumer's end: which frame goes on when the next item is asked for, and what came of it.
/// Lives in a frame of the library, which leaves the stream before it ends; frames of the stream
/// refer to it.
///
/// Touched by the consumer while the stream stands at a co_yield, by the stream while it runs.
class TANDEM_API stream_cursor_base {
 public:
  stream_cursor_base(const stream_cursor_base&) = delete;
  stream_cursor_base& operator=(const stream_cursor_base&) = delete;

  bool has_ended() const noexcept { return top_ == nullptr; }
  /// streams/next. @returns whether the consumer suspends; if not, an item, or the end, is there
  TANDEM_ALWAYS_INLINE bool call(thread_context& context, promise_base& consumer) noexcept;
  /// Of an await by somebody who was not given the item: it is there already.
  void* item() const noexcept { return item_; }
  /// What the stream has failed with; handed over. Null: nothing.
  std::exception_ptr take_failure() noexcept { return failure_.take_failure(); }

  /// It was stopped by its consumer, and what it failed with by that is no failure.
  void forget_stop(stop_reason why) noexcept;

  /// In a handler: the consumer's own code has thrown.
  void note_failure() noexcept { own_failure_ = std::current_exception(); }
  void note_failure(std::exception_ptr failure) noexcept { own_failure_ = std::move(failure); }
  /// After the end. What a consumer ends with that only passes on what it is told: its own failure,
  /// or else the stream's. A failure beside it is reported.
  std::exception_ptr conclude() noexcept;

 protected:
  explicit stream_cursor_base(stream_promise_base& outermost) noexcept;
  ~stream_cursor_base();

 private:
  friend class stream_promise_base;
  friend class stream_limit;

  // streams/leave. leaving: the frame that stands at a co_yield is to hear of it. left: it has.
  // yielded_again: and has yielded once more, and heard that this is wrong.
  enum class state : std::uint8_t { taken_from, leaving, left, yielded_again };

  /// streams/home. The stream goes on elsewhere than the consumer. @returns false: not so
  bool goes_on_elsewhere(stream_promise_base& frame, promise_base& consumer) noexcept;
  /// The home where `frame` goes on for this consumer.
  static executor* home_for(stream_promise_base& frame, promise_base& consumer) noexcept;
  /// @returns  false: it has not begun, and is gone
  bool begin_leave() noexcept;

  stream_promise_base* top_;  // null: it has ended
  void* item_ = nullptr;      // null: the end. This: one is being made
  state state_ = state::taken_from;
  stop_reason why_left_ = stop_reason::none;
  outcome_base failure_;            // the room of the outermost frame
  std::exception_ptr own_failure_;  // of the consumer
};

class TANDEM_API stream_promise_base : public promise_base {
 public:
  stream_promise_base() noexcept = default;

  std::suspend_always initial_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept {
    if (outer_ == nullptr) {
      promise_base::unhandled_exception();
    } else {
      fail_nested();
    }
  }

  /// streams/yield. @returns whether it stays suspended
  TANDEM_ALWAYS_INLINE bool hand_out() noexcept {
    thread_context& context = this_thread();
    if (cursor_->state_ != stream_cursor_base::state::taken_from) [[unlikely]]
      return yield_while_left();
    if (segment == context.segment) [[likely]] {
      context.child_done = true;
      return true;
    }
    hand_out_elsewhere(context);
    return true;
  }
  TANDEM_ALWAYS_INLINE void set_item(const void* item) noexcept {
    cursor_->item_ = const_cast<void*>(item);  // NOLINT: its type has the const
  }
  /// After a co_yield: whether the stream is left.
  bool is_left() const noexcept { return cursor_->state_ != stream_cursor_base::state::taken_from; }
  /// streams/leave. For frames of the user's. @throws operation_cancelled; std::logic_error
  void throw_if_left() {
    if (is_left()) [[unlikely]]
      throw_left();
  }
  /// The same for those of the library, which end by themselves.
  bool hears_of_leaving() noexcept {
    if (!is_left()) [[likely]]
      return false;
    cursor_->state_ = stream_cursor_base::state::left;
    return true;
  }

  /// streams/nest. Puts `this`, which has not begun, above `outer`, which is suspended.
  void nest(stream_promise_base& outer, outcome_base& room) noexcept;
  /// streams/end. Ends a suspended frame with a failure. @returns what to go on with
  std::coroutine_handle<> end_failed(std::exception_ptr&& failure) noexcept;

  class end_awaiter {
   public:
    explicit end_awaiter(bool on_stack) noexcept : on_stack_(on_stack) {}
    bool await_ready() const noexcept { return on_stack_; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      return transfer(ended.promise().go_on_after_end());
    }
    void await_resume() const noexcept {}

   private:
    bool on_stack_;
  };
  /// streams/end
  end_awaiter final_suspend() noexcept {
    if (outer_ != nullptr) return end_awaiter(false);
    note_end();
    thread_context& context = this_thread();
    if (segment != context.segment) return end_awaiter(false);
    context.child_done = true;  // calls/end_here
    return end_awaiter(true);
  }

 private:
  friend class stream_cursor_base;
  friend class stream_limit;

  void note_end() noexcept {
    cursor_->top_ = nullptr;
    cursor_->item_ = nullptr;
  }
  void fail_nested() noexcept;
  bool yield_while_left() noexcept;
  [[noreturn]] void throw_left();
  void hand_out_elsewhere(thread_context& context) noexcept;
  std::coroutine_handle<> go_on_after_end() noexcept;
  std::coroutine_handle<> end_nested() noexcept;
  /// The consumer's call goes on in this frame instead of `from`.
  void take_call(const stream_promise_base& from) noexcept;

  stream_cursor_base* cursor_ = nullptr;
  stream_promise_base* outer_ = nullptr;  // streams/nest; null: the outermost
  outcome_base* nested_room_ = nullptr;   // where a nested one leaves its failure
  executor* given_home_ = nullptr;  // streams/home: what it had from its consumer; null: not begun
};

inline stream_cursor_base::stream_cursor_base(stream_promise_base& outermost) noexcept
    : top_(&outermost) {
  outermost.cursor_ = this;
  outermost.room = &failure_;
  outermost.home = nullptr;
}

TANDEM_ALWAYS_INLINE bool stream_cursor_base::call(thread_context& context,
                                                   promise_base& consumer) noexcept {
  stream_promise_base& frame = *top_;
  TANDEM_ASSERT(item_ != this, "a stream is asked for an item while it is making one");
  item_ = this;
  frame.env = consumer.env;
  frame.continuation = &consumer;
  frame.on_final = nullptr;
  if (frame.home != consumer.home) [[unlikely]] {
    if (goes_on_elsewhere(frame, consumer)) return true;
  }
  if (too_deep(context)) [[unlikely]] {
    frame.segment = 0;
    context.next = frame.handle();  // calls/limit
    return true;
  }
  frame.segment = context.segment;
  return !detail::call(context, frame);
}

}  // namespace tandem::inline v0::detail
