// operation.cpp: starting, cancelling and ending one operation.
// SPDX-License-Identifier: MIT
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <tandem/errors.hpp>
#include <tandem/io/detail/operation.hpp>

#include "completion_thread.hpp"

namespace tandem::inline v0::io::detail {

using tandem::detail::promise_base;

operation::operation(operation_kind kind, completion_thread* thread, int descriptor, void* buffer,
                     std::size_t bytes) noexcept
    : leaf(&operation::on_stop),
      kind_(kind),
      descriptor_(descriptor),
      thread_(thread),
      buffer_(buffer),
      bytes_(bytes),
      submit_(&operation::run_submit, *this),
      cancel_(&operation::run_cancel, *this) {}

operation::operation(operation&& other) noexcept
    : operation(other.kind_, other.thread_, other.descriptor_, other.buffer_, other.bytes_) {
  peer_ = other.peer_;
  outcome_ = other.outcome_;
}

bool operation::try_now() noexcept {
  // One call moves at most what an outcome can say.
  do {
    const std::size_t bytes = std::min<std::size_t>(bytes_, 0x7ffff000);
    ssize_t done = -1;
    if (kind_ == operation_kind::receive) {
      done = ::recv(descriptor_, buffer_, bytes, MSG_DONTWAIT);
    } else if (kind_ == operation_kind::send || kind_ == operation_kind::send_all) {
      done = ::send(descriptor_, buffer_, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    } else {
      return false;
    }
    if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      state = phase::idle;  // the ring sends what is left
      return false;
    }
    complete(static_cast<std::int32_t>(done < 0 ? -errno : done));
  } while (wants_retry());
  return true;
}

bool operation::start(promise_base& waiting) noexcept {
  if (descriptor_ < 0) {
    complete(-EBADF);
    return false;
  }
  if (bytes_ == 0 && (kind_ == operation_kind::receive || kind_ == operation_kind::send ||
                      kind_ == operation_kind::send_all)) {
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
  if (!thread.is_current() && try_now()) {
    // D16: a task whose operations are always ready lets others go first now and then.
    tandem::detail::thread_context& context = tandem::detail::this_thread();
    if (context.budget-- > 1) return false;
    context.budget = tandem::detail::await_budget;
    waiting.post(post_kind::yield);
    return true;
  }
  if (!begin(waiting)) {  // I1
    complete(-ECANCELED);
    return false;
  }
  if (thread.is_current()) {
    thread.submit(*this);  // I2: its completion is reaped by this thread, so not before we return
  } else {
    thread.post(&submit_, post_kind::spawn);  // I2: from here on the operation may be gone
  }
  return true;
}

void operation::run_submit(job* self) noexcept {
  operation& target = *static_cast<request*>(self)->target;
  completion_thread::impl& thread = target.thread_->implementation();
  if (target.cancel_seen) {  // I3: the stop came before the start
    target.set_cancelled();
    target.complete(-ECANCELED);
    thread.finish(target);
    return;
  }
  thread.submit(target);
}

bool operation::on_stop(stop_waiter& self) noexcept {
  auto& target = static_cast<operation&>(self);
  // I4. The stopper's hold goes to the completion thread, which ends it in run_cancel.
  target.thread_->implementation().post(&target.cancel_, post_kind::spawn);
  return false;
}

void operation::run_cancel(job* self) noexcept {
  operation& target = *static_cast<request*>(self)->target;
  target.cancel_seen = true;
  if (target.state == phase::submitted) target.thread_->implementation().cancel(target);
  // I6. Second holder: the operation had completed and waited for this request.
  if (target.hand_over()) target.resume();
}

bool operation::wants_retry() noexcept {
  if (kind_ == operation_kind::send_all && outcome_ > 0) {
    buffer_ = static_cast<std::byte*>(buffer_) + outcome_;
    bytes_ -= static_cast<std::size_t>(outcome_);
    return bytes_ != 0;
  }
  return outcome_ == -EINTR || (kind_ == operation_kind::accept && outcome_ == -ECONNABORTED);
}

std::error_code operation::error() const noexcept {
  if (outcome_ >= 0) return {};
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
