// task_scope.cpp: counting children, the first failure, and leaving.
// SPDX-License-Identifier: MIT
#include <tandem/task_scope.hpp>

#include <utility>

#include <tandem/errors.hpp>
#include <tandem/runtime.hpp>

#include "runtime_impl.hpp"

namespace tandem::inline v0 {

namespace {

bool is_cancellation(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const operation_cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void task_scope::spawn(executor& target, task<void> child, std::source_location where) {
  TANDEM_ASSERT(child, "task_scope::spawn was given an empty task");
  auto* const block =
      new detail::scope_child(*env_.runtime(), target, std::move(child), *this, where);
  holds_.fetch_add(1, std::memory_order_relaxed);  // S1: before it is posted; we hold one ourselves
  block->launch(&env_);
}

bool task_scope::wait_for_children(detail::promise_base& waiting) noexcept {
  joiner_ = &waiting;
  // S2. acq_rel: publishes joiner_ to the last child, and takes over what the children wrote.
  if (holds_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  holds_.store(1, std::memory_order_relaxed);  // nobody else is left
  return true;
}

void task_scope::child_ended() noexcept {
  // S3. The last hold: the body has given up its own, so joiner_ is set and nobody spawns.
  if (holds_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  holds_.store(1, std::memory_order_relaxed);  // the body's, again
  joiner_->post();
}

void task_scope::note_failure(std::exception_ptr failure) noexcept {
  if (env_.stop().stop_requested() && is_cancellation(failure)) {
    cut_short_.store(true, std::memory_order_relaxed);  // ordered by the join
    return;
  }
  if (claimed_.exchange(true, std::memory_order_acq_rel)) {
    env_.runtime()->implementation().suppressed(failure);
    return;
  }
  first_failure_ = std::move(failure);
  failed_.store(true, std::memory_order_release);         // pairs with rethrow_first
  env_.stop().request_stop(stop_reason::sibling_failed);  // S4: our hold keeps the scope alive
}

namespace detail {

std::coroutine_handle<> scope_child::ended() noexcept {
  task_scope& scope = scope_;
  if (body().failed()) scope.note_failure(body().take_exception());
  delete this;
  scope.child_ended();
  return std::noop_coroutine();
}

bool scope_join_awaiter::await_ready() const noexcept {
  return scope_->holds_.load(std::memory_order_acquire) == 1;  // pairs with child_ended
}

bool scope_join_awaiter::start(promise_base& waiting) noexcept {
  return !scope_->wait_for_children(waiting);
}

void scope_join_awaiter::await_resume() { scope_->rethrow_first(); }

void scope_runner::start(promise_base& body, promise_base& parent) noexcept {
  env_.start_below(*parent.env);
  env_.set_home(parent.home);
  body.inherit(parent);
  body.env = &env_;
  body.on_final = &scope_runner::body_ended;
  body.link = this;
  this_thread().env = &env_;
}

void scope_runner::leave() {
  env_.end();
  rethrow_first();
  // Children that gave up because the caller was stopped: what the scope was for has not been done.
  const stop_reason callers = env_.parent()->stop().reason();
  if (was_cut_short() && callers != stop_reason::none) throw operation_cancelled(callers);
}

std::coroutine_handle<> scope_runner::body_ended(promise_base& body) noexcept {
  auto& self = *static_cast<scope_runner*>(body.link);
  promise_base& parent = *body.continuation;
  if (body.failed()) self.note_failure(body.exception());
  const executor* const home = body.home;
  if (!self.wait_for_children(parent)) return std::noop_coroutine();
  this_thread().env = parent.env;
  if (parent.home == home) return parent.handle();
  parent.post();
  return std::noop_coroutine();
}

}  // namespace detail

}  // namespace tandem::inline v0
