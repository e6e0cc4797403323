// fork.cpp: the parts of fork and join that are not on the fast path.
// SPDX-License-Identifier: MIT
#include <tandem/detail/fork.hpp>

#include <exception>
#include <memory>
#include <utility>

#include <tandem/detail/environment_kind.hpp>
#include <tandem/detail/pass_on.hpp>
#include <tandem/environment.hpp>

#include "frames/exception_hook.hpp"

namespace tandem::inline v0::detail {

std::exception_ptr join_frame::take_first() noexcept {
  // Relaxed: the join has ordered the child's end before the parent.
  outcome_base& room = *first_failed_.load(std::memory_order_relaxed);
  std::exception_ptr failure = std::move(room.error);
  std::destroy_at(&room.error);
  return failure;
}

void join_frame::rethrow_first() { std::rethrow_exception(take_first()); }

void join_frame::note_failure(outcome_base& room, const environment& env) noexcept {
  outcome_base* none = nullptr;
  // Relaxed: read after the join.
  if (first_failed_.compare_exchange_strong(none, &room, std::memory_order_relaxed)) return;
  report_suppressed(env, room.error);
  std::destroy_at(&room.error);
}

std::coroutine_handle<> join_frame::child_ended(const ended_frame& child) noexcept {
  if (!join_frame::of_link(child.link)->settle(1)) return std::noop_coroutine();
  return continue_with(*child.continuation, child.home);
}

constinit std::atomic<void (*)(promise_base&) noexcept> exception_hook{nullptr};

void promise_base::unhandled_exception() noexcept {
  if (const auto hook = exception_hook.load(std::memory_order_relaxed)) [[unlikely]]
    hook(*this);
  keep_failure(*this, std::current_exception());
}

void keep_failure(promise_base& frame, std::exception_ptr&& failure) noexcept {
  outcome_base& room = *frame.room;
  join_frame* const join = frame.on_final != nullptr ? join_frame::of_link(frame.link) : nullptr;
  if (frame.fails_into_environment()) {
    std::construct_at(&room.error, std::move(failure));
    frame.env->kind().failed(*frame.env, room);
  } else if (join != nullptr) {
    std::construct_at(&room.error, std::move(failure));  // a fork's room is not built
    join->note_failure(room, *frame.env);
  } else {
    room.error = std::move(failure);
  }
}

bool end_on_stack(promise_base& frame) noexcept {
  thread_context& context = this_thread();
  if (frame.segment != context.segment) return false;
  // calls/end_failed. What the frame holds may call others as it goes: so the word comes last.
  frame.handle().destroy();
  context.child_done = true;
  return true;
}

std::coroutine_handle<> end_frame(promise_base& ended) noexcept {
  const promise_base::final_function on_final = ended.on_final;
  const ended_frame rest{ended.continuation, ended.home, ended.link};
  ended.handle().destroy();
  return on_final == nullptr ? continue_with(*rest.continuation, rest.home) : on_final(rest);
}

void send_child(thread_context& context, promise_base& child) noexcept {
  child.segment = 0;
  if (context.lane_home != child.home) {
    child.post(post_kind::spawn);
  } else {
    publish_child(context, child);
  }
}

void send_children(thread_context& context, promise_base* const* children,
                   std::size_t count) noexcept {
  for (std::size_t i = count - 1; i > 0; --i) send_child(context, *children[i]);
  children[0]->segment = 0;
  context.next = children[0]->handle();
}

}  // namespace tandem::inline v0::detail
