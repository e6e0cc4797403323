// with_stop.cpp: a child that hears of a std::stop_token, and one that gets one.
// SPDX-License-Identifier: MIT
#include <tandem/with_stop.hpp>

#include <utility>

namespace tandem::inline v0::detail {

namespace {
constinit const environment_kind surrounds_stop("with_stop");
constinit const environment_kind surrounds_token("with_stop_token");
}  // namespace

void stop_from_token::start(promise_base& child, promise_base& parent,
                            outcome_base& result) noexcept {
  open(parent, surrounds_stop, nullptr);
  prepare(child, parent, result, &stop_from_token::child_ended, this);
  callback_.emplace(std::move(token_), forward{&env_});  // stopped already: calls it
}

std::coroutine_handle<> stop_from_token::child_ended(const ended_frame& child) noexcept {
  auto& self = *static_cast<stop_from_token*>(child.link);
  // Waits for a callback that runs on another thread; that one takes stop locks only. It cannot run
  // on this thread below us: a stop never resumes a task on the stopper's stack.
  self.callback_.reset();
  return self.leave(*child.continuation, child.home);
}

constinit const wait_kind stop_to_token::listens_for_token(&stop_to_token::on_stop,
                                                           "a std::stop_token");

std::stop_token stop_to_token::make_token(const promise_base& parent) {
  source_ = std::stop_source();
  // For a callable that looks at it before it returns its task; later stops come by start().
  if (parent.env->stop().stop_requested()) source_.request_stop();
  return source_.get_token();
}

void stop_to_token::start(promise_base& child, promise_base& parent,
                          outcome_base& result) noexcept {
  parent_ = &parent;
  open(parent, surrounds_token, nullptr);
  prepare(child, parent, result, &stop_to_token::child_ended, this);
  listening_ = env_.stop().listen(*this);
  if (!listening_) source_.request_stop();
}

std::coroutine_handle<> stop_to_token::child_ended(const ended_frame& child) noexcept {
  auto& self = *static_cast<stop_to_token*>(child.link);
  // stopping/hand_over: if a stopper has the waiter, the second to hand over goes on with the
  // parent.
  if (self.listening_ && !self.env_.stop().take_back(self)) {
    return std::noop_coroutine();
  }
  return self.leave(*child.continuation, child.home);
}

bool stop_to_token::on_stop(stop_waiter& waiter) noexcept {
  auto& self = static_cast<stop_to_token&>(waiter);
  // The callbacks belong to this task: its clock, its context.
  thread_context& context = this_thread();
  environment* const interrupted = std::exchange(context.env, &self.env_);
  self.source_.request_stop();
  context.env = interrupted;
  return true;
}

void stop_to_token::go_on(stop_listener& waiter) noexcept {
  auto& self = static_cast<stop_to_token&>(waiter);
  promise_base& parent = *self.parent_;
  self.close();
  parent.post();
}

}  // namespace tandem::inline v0::detail
