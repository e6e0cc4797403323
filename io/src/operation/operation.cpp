// operation.cpp: starting, cancelling and ending one operation.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <string>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/errors.hpp>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/io/detail/operation.hpp>

#include "engine/completion_engine.hpp"
#include "engine/completion_thread.hpp"
#include "operation/descriptor_note.hpp"
#include "platform/attempt.hpp"
#include "platform/error_number.hpp"

namespace tandem::inline v0::io::detail {

using tandem::detail::promise_base;

bool operation::try_now() noexcept {
  if (!are_tried_first.has(kind_)) return false;
  do {
    const std::int32_t outcome = platform::next_attempt(*this);
    if (outcome == platform::would_block) {
      state = phase::idle;  // the backend does what is left
      return false;
    }
    complete(outcome);
  } while (wants_retry());
  return true;
}

bool operation::start(promise_base& waiting) noexcept {
  if (!is_descriptor(descriptor_)) {
    complete(-EBADF);
    return false;
  }
  if (bytes_ == 0 && are_done_if_empty.has(kind_)) {
    complete(0);
    return false;
  }
  if (waiting.env->stop().stop_requested()) {
    set_waiting(waiting);
    set_cancelled();
    complete(-ECANCELED);
    return false;
  }
  completion_thread::impl& thread = thread_->implementation();
  const bool is_at_home = thread.is_current();
  if (!is_at_home && is_for_workers()) return start_direct(waiting);
  if (record_ != nullptr && are_of_connections.has(kind_) &&
      (is_at_home || completion_engine::current() != nullptr)) {
    record_->place.settle();  // spreading/settle
  }
  if ((!is_at_home || tries_at_home_) && try_now()) return end_ready(waiting);
  return start_by_thread(waiting, thread, is_at_home);
}

bool operation::end_at_once(promise_base& waiting, std::int32_t outcome) noexcept {
  if (waiting.env->stop().stop_requested()) {
    set_waiting(waiting);
    set_cancelled();
    complete(-ECANCELED);
    return false;
  }
  complete(outcome);
  return end_ready(waiting);
}

bool operation::end_ready(promise_base& waiting) noexcept {
  // A task whose operations are always ready lets others go first now and then.
  tandem::detail::thread_context& context = tandem::detail::this_thread();
  if (context.budget-- > 1) return false;
  context.budget = tandem::detail::await_budget;
  waiting.post(post_kind::yield);
  return true;
}

bool operation::start_by_thread(promise_base& waiting, completion_thread::impl& thread,
                                bool is_at_home) noexcept {
  leave_direct();
  if (!begin(waiting)) {  // operations/publish
    complete(-ECANCELED);
    return false;
  }
  tandem::detail::hold_clock(*waiting.env->runtime());  // ring_sleep/clock
  if (is_at_home) {
    // operations/submit: its completion is reaped by this thread, so not before we return.
    thread.submit(*this);
  } else {
    submit_.set(&operation::run_submit, *this);
    thread.post_request(&submit_);  // operations/submit: from here on the operation may be gone
  }
  return true;
}

constinit const tandem::detail::wait_kind operation::waits_for_io(
    &operation::on_stop, "I/O", tandem::detail::wait_end::system,
    [](const stop_waiter& wait, tandem::detail::wait_note& note) noexcept {
      const auto& self = static_cast<const operation&>(wait);
      note_descriptor(note, self.name(), self.descriptor());
      if (!self.is_direct_) note.thread = static_cast<int>(self.thread_->index());
    });

void operation::run_submit(job* self) noexcept {
  operation& target = *static_cast<start_request*>(self)->target;
  completion_thread::impl& thread = target.thread_->implementation();
  if (target.cancel_seen) {  // operations/never_started: the stop came before the start
    target.set_cancelled();
    target.complete(-ECANCELED);
    thread.finish(target);
    return;
  }
  thread.submit(target);
}

bool operation::on_stop(stop_waiter& self) noexcept {
  auto& target = static_cast<operation&>(self);
  if (target.is_direct_) return target.stop_direct();
  // operations/stop. The stopper's hold goes to the completion thread, which ends it in run_cancel.
  target.cancel_.set(&operation::run_cancel, target);
  target.thread_->implementation().post(&target.cancel_, post_kind::spawn);
  return false;
}

void operation::run_cancel(job* self) noexcept {
  operation& target = *static_cast<request*>(self)->target;
  completion_thread::impl& thread = target.thread_->implementation();
  target.cancel_seen = true;
  if (target.state == phase::submitted) thread.cancel(target);
  // operations/wait_for_cancel. Second holder: the operation had completed and waited for this
  // request.
  if (target.hand_over()) {
    target.resume();
    thread.resumed_elsewhere();
  }
}

void operation::arm(tandem::detail::select_place& as) noexcept {
  leave_direct();
  join_later(as, &operation::let_go, tandem::detail::wait_end::system);
  completion_thread::impl& thread = thread_->implementation();
  tandem::detail::hold_clock(*waiting().env->runtime());  // ring_sleep/clock
  if (thread.is_current()) {
    thread.submit(*this);
  } else {
    submit_.set(&operation::run_submit, *this);
    thread.post_request(&submit_);
  }
}

bool operation::let_go(leaf& self) noexcept {
  auto& target = static_cast<operation&>(self);
  // acq_rel: pairs with end_as_branch().
  if (target.branch_end_.exchange(branch_end::asked, std::memory_order_acq_rel) ==
      branch_end::none) {
    target.cancel_.set(&operation::run_let_go, target);
    target.thread_->implementation().post(&target.cancel_, post_kind::spawn);
  }
  return false;  // in any case its thread ends it
}

void operation::run_let_go(job* self) noexcept {
  operation& target = *static_cast<request*>(self)->target;
  completion_thread::impl& thread = target.thread_->implementation();
  target.cancel_seen = true;
  if (target.state == phase::submitted) thread.cancel(target);
  // As in run_cancel(): the second of the two ends it.
  if (target.hand_over()) thread.end_branch(target);
}

bool operation::end_as_branch(bool& is_held) noexcept {
  if (branch_end_.exchange(branch_end::ended, std::memory_order_acq_rel) == branch_end::asked &&
      !hand_over()) {
    is_held = true;  // operations/wait_for_cancel
    return false;
  }
  return end_unposted();
}

file_request& operation::of_file() const noexcept { return *static_cast<file_request*>(buffer_); }

bool operation::retries() noexcept {
  const rest_form rest = row().rest;
  if (rest == rest_form::file) return of_file().took(outcome_);
  if (outcome_ > 0) {
    const auto done = static_cast<std::size_t>(outcome_);
    if (rest == rest_form::window) return window().advance(done);
    if (rest == rest_form::bytes) {
      buffer_ = static_cast<std::byte*>(buffer_) + done;
      bytes_ -= done;
      return bytes_ != 0;
    }
  }
  return outcome_ == -EINTR || (outcome_ == -ECONNABORTED && row().survives_abort);
}

bool operation::was_stopped() const noexcept { return outcome_ == -ECANCELED; }

std::error_code operation::error() const noexcept {
  if (outcome_ >= 0) return {};
  if (outcome_ == -ECANCELED) {
    return make_error_code(has_waiting() ? cancel_reason() : stop_reason::none);
  }
  return platform::error_of(-outcome_);
}

void operation::throw_failure(const char* what) const {
  if (outcome_ == -ECANCELED) {
    const stop_reason reason = has_waiting() ? cancel_reason() : stop_reason::none;
    throw operation_cancelled(reason);
  }
  throw std::system_error(error(), what);
}

}  // namespace tandem::inline v0::io::detail
