// stream.cpp: what of a stream is not on the path of a ready item.
// SPDX-License-Identifier: MIT
#include <stdexcept>

#include <tandem/detail/pass_on.hpp>
#include <tandem/detail/stream_limit.hpp>
#include <tandem/detail/stream_promise.hpp>

namespace tandem::inline v0::detail {

stream_cursor_base::~stream_cursor_base() {
  if (top_ == nullptr) return;
  TANDEM_ASSERT(top_->given_home_ == nullptr,
                "a stream that has begun was dropped before its end: take its items with "
                "for_each or with_stream, which await that");
  destroy_unstarted(*top_);
}

bool stream_cursor_base::goes_on_elsewhere(stream_promise_base& frame,
                                           promise_base& consumer) noexcept {
  frame.home = home_for(frame, consumer);
  if (frame.home == consumer.home) return false;
  frame.segment = 0;
  frame.post();
  return true;
}

executor* stream_cursor_base::home_for(stream_promise_base& frame,
                                       promise_base& consumer) noexcept {
  if (frame.home != frame.given_home_) return frame.home;  // it has moved there itself
  return frame.given_home_ = consumer.home;
}

bool stream_cursor_base::begin_leave() noexcept {
  if (top_->given_home_ == nullptr) {
    destroy_unstarted(*std::exchange(top_, nullptr));
    return false;
  }
  const stop_reason stopped = current_stop_reason();
  why_left_ = stopped != stop_reason::none ? stopped : stop_reason::parent;
  state_ = state::leaving;
  return true;
}

void stream_cursor_base::forget_stop(stop_reason why) noexcept {
  if (failure_.error != nullptr && stop_reason_of(failure_.error) == why) failure_.error = nullptr;
}

std::exception_ptr stream_cursor_base::conclude() noexcept {
  // streams/leave: what it was told is no failure of its own.
  if (state_ != state::taken_from) forget_stop(why_left_);
  std::exception_ptr of_stream = failure_.take_failure();
  if (own_failure_ == nullptr) return of_stream;
  if (of_stream != nullptr) report_clean_up(of_stream);
  return std::exchange(own_failure_, nullptr);
}

bool stream_limit::start_limited(promise_base& consumer) noexcept {
  stream_promise_base& frame = *from_->top_;
  return start_at(stream_cursor_base::home_for(frame, consumer), frame, consumer, from_->failure_);
}

bool stream_limit::next(promise_base& consumer) noexcept {
  TANDEM_ASSERT(from_->item_ != from_, "a stream is asked for an item while it is making one");
  if (!timers_of(*consumer.env->runtime()).is_driven()) [[unlikely]] {
    try {
      timer_service::throw_not_driven();
    } catch (...) {
      from_->note_failure();
    }
    from_->item_ = nullptr;
    return false;
  }
  from_->item_ = from_;
  return start_limited(consumer);
}

bool stream_limit::leave(promise_base& consumer, bool inside) noexcept {
  if (!from_->begin_leave()) return false;
  from_->item_ = nullptr;
  return inside ? from_->call(this_thread(), consumer) : start_limited(consumer);
}

void stream_promise_base::hand_out_elsewhere(thread_context& context) noexcept {
  // All of it is read before anybody goes on, who may ask for the next item at once.
  const ended_frame rest{continuation, home, link};
  const final_function f = on_final;
  const std::coroutine_handle<> then =
      f != nullptr ? f(rest) : continue_with(*rest.continuation, rest.home);
  if (then.address() != std::noop_coroutine().address()) context.next = then;
}

void stream_promise_base::throw_left() {
  using state = stream_cursor_base::state;
  if (cursor_->state_ == state::yielded_again) {
    throw std::logic_error(
        "a stream yielded an item after it had been left: what catches operation_cancelled at a "
        "co_yield cleans up, and ends");
  }
  cursor_->state_ = state::left;
  throw operation_cancelled(cursor_->why_left_);
}

bool stream_promise_base::yield_while_left() noexcept {
  // streams/yielded_again
  if (cursor_->state_ != stream_cursor_base::state::yielded_again) {
    cursor_->state_ = stream_cursor_base::state::yielded_again;
    return false;
  }
  // It has been told, and goes on: it ends here, with what can be destroyed without waiting.
  thread_context& context = this_thread();
  const std::coroutine_handle<> then = end_failed(std::make_exception_ptr(std::logic_error(
      "a stream went on yielding items after it had been left: it was destroyed there")));
  if (then.address() != std::noop_coroutine().address()) context.next = then;
  return true;
}

void stream_promise_base::nest(stream_promise_base& outer, outcome_base& its_room) noexcept {
  cursor_ = outer.cursor_;
  outer_ = &outer;
  nested_room_ = &its_room;
  take_call(outer);
  home = outer.home;
  given_home_ = outer.given_home_;
  cursor_->top_ = this;
}

void stream_promise_base::take_call(const stream_promise_base& from) noexcept {
  env = from.env;
  continuation = from.continuation;
  on_final = from.on_final;
  link = from.link;
  segment = from.segment;
  room = from.room;
}

void stream_promise_base::fail_nested() noexcept {
  // The consumer's call goes on in the outer frame: it has to be there when this one has ended.
  outcome_base* const room_of_call = std::exchange(room, nested_room_);
  const final_function on_final_of_call = std::exchange(on_final, nullptr);
  promise_base::unhandled_exception();
  room = room_of_call;
  on_final = on_final_of_call;
}

std::coroutine_handle<> stream_promise_base::end_nested() noexcept {
  stream_promise_base& outer = *outer_;
  const executor* const here = home;
  outer.take_call(*this);
  // streams/home. Where it has not moved, it follows the consumer, which waits.
  if (outer.home == outer.given_home_) outer.home = outer.given_home_ = continuation->home;
  cursor_->top_ = &outer;
  handle().destroy();
  if (outer.home == here) [[likely]]
    return outer.handle();
  outer.segment = 0;
  outer.post();
  return std::noop_coroutine();
}

std::coroutine_handle<> stream_promise_base::go_on_after_end() noexcept {
  return outer_ != nullptr ? end_nested() : end_frame(*this);
}

std::coroutine_handle<> stream_promise_base::end_failed(std::exception_ptr&& failure) noexcept {
  if (outer_ != nullptr) {
    nested_room_->error = std::move(failure);
    return end_nested();
  }
  note_end();
  keep_failure(*this, std::move(failure));
  return end_on_stack(*this) ? std::noop_coroutine() : end_frame(*this);
}

}  // namespace tandem::inline v0::detail
