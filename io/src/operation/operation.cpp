// operation.cpp: starting, cancelling and ending one operation.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <string>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/errors.hpp>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/io/detail/operation.hpp>

#include "engine/completion_thread.hpp"
#include "platform/attempt.hpp"

namespace tandem::inline v0::io::detail {

using tandem::detail::promise_base;

bool operation::try_now() noexcept {
  if (!is_tried_first(kind_)) return false;
  do {
    const std::int32_t outcome = next_attempt(*this);
    if (outcome == would_block) {
      state = phase::idle;  // the backend does what is left
      return false;
    }
    complete(outcome);
  } while (wants_retry());
  return true;
}

bool operation::has_nothing_to_do() const noexcept {
  if (bytes_ != 0) return false;
  switch (kind_) {
    case operation_kind::receive:
    case operation_kind::send:
    case operation_kind::send_all:
    case operation_kind::receive_vector:
    case operation_kind::send_all_vector: return true;
    default: return false;
  }
}

bool operation::start(promise_base& waiting) noexcept {
  if (descriptor_ < 0) {
    complete(-EBADF);
    return false;
  }
  if (has_nothing_to_do()) {
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
  if (!is_at_home && try_now()) {
    // A task whose operations are always ready lets others go first now and then.
    tandem::detail::thread_context& context = tandem::detail::this_thread();
    if (context.budget-- > 1) return false;
    context.budget = tandem::detail::await_budget;
    waiting.post(post_kind::yield);
    return true;
  }
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

void operation::run_submit(job* self) noexcept {
  operation& target = *static_cast<request*>(self)->target;
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

file_request& operation::of_file() const noexcept { return *static_cast<file_request*>(buffer_); }

bool operation::retries() noexcept {
  if (kind_ == operation_kind::file) return of_file().took(outcome_);
  if (kind_ == operation_kind::send_all && outcome_ > 0) {
    buffer_ = static_cast<std::byte*>(buffer_) + outcome_;
    bytes_ -= static_cast<std::size_t>(outcome_);
    return bytes_ != 0;
  }
  if (kind_ == operation_kind::send_all_vector && outcome_ > 0) {
    return window().advance(static_cast<std::size_t>(outcome_));
  }
  return outcome_ == -EINTR || (kind_ == operation_kind::accept && outcome_ == -ECONNABORTED);
}

const char* operation::name() const noexcept {
  switch (kind_) {
    case operation_kind::accept: return "tcp_listener::accept";
    case operation_kind::connect: return "tcp_stream::connect";
    case operation_kind::receive:
    case operation_kind::receive_vector: return "tcp_stream::read";
    case operation_kind::send: return "tcp_stream::write";
    case operation_kind::send_all:
    case operation_kind::send_all_vector: return "tcp_stream::write_all";
    case operation_kind::wait_readable: return "readable";
    case operation_kind::wait_writable: return "writable";
    case operation_kind::read_file: return "signal_set::wait";
    case operation_kind::file: return "an operation on a file";
    default: return "an operation";
  }
}

std::error_code operation::error() const noexcept {
  if (outcome_ >= 0) return {};
  if (outcome_ == -ECANCELED) {
    return make_error_code(has_waiting() ? cancel_reason() : stop_reason::none);
  }
  return {-outcome_, std::generic_category()};
}

void operation::throw_failure(const char* what) const {
  if (outcome_ == -ECANCELED) {
    const stop_reason reason = has_waiting() ? cancel_reason() : stop_reason::none;
    throw operation_cancelled(reason);
  }
  throw std::system_error(error(), what);
}

}  // namespace tandem::inline v0::io::detail
