// root.cpp: the life of a spawned task, and waiting for it.
// SPDX-License-Identifier: MIT
#include <tandem/detail/root.hpp>

#include <tandem/errors.hpp>
#include <tandem/spawn.hpp>

#include "platform.hpp"
#include "runtime_impl.hpp"

namespace tandem::inline v0::detail {

root::root(tandem::runtime& owner, executor& target, promise_base& body,
           const std::source_location& where) noexcept
    : job(&root::start_job), env_(&owner, &target), body_(&body), target_(&target) {
  job::env = &env_;
  env_.set_spawned_at(where);
}
root::~root() = default;

void root::launch(environment* parent) noexcept {
  env_.runtime()->implementation().task_started();
  link_and_post(parent);
}

bool root::launch_from_outside() noexcept {
  if (!env_.runtime()->implementation().admit_task()) return false;
  link_and_post(nullptr);
  return true;
}

void root::link_and_post(environment* parent) noexcept {
  runtime::impl& owner = env_.runtime()->implementation();
  if (parent != nullptr) {
    env_.start_below(*parent);
  } else {
    env_.start();
    env_.stop().link(owner.root_stop());
  }
  target_->post(this, post_kind::spawn);
}

cancel_result root::cancel(stop_reason reason) noexcept {
  phase seen = phase::queued;
  if (phase_.compare_exchange_strong(seen, phase::removed, std::memory_order_acq_rel)) {
    return cancel_result::removed_before_start;
  }
  if (seen != phase::running) return cancel_result::already_done;
  env_.stop().request_stop(reason);
  return cancel_result::stop_requested;
}

bool root::failed_for_real() const noexcept {
  const std::exception_ptr failure = body_->exception();
  if (failure == nullptr) return false;
  if (!env_.stop().stop_requested()) return true;
  try {
    std::rethrow_exception(failure);
  } catch (const operation_cancelled&) {
    return false;
  } catch (...) {
    return true;
  }
}

void root::start_job(job* self) noexcept {
  auto& block = *static_cast<root*>(self);
  thread_context& context = this_thread();
  phase seen = phase::queued;
  if (!block.phase_.compare_exchange_strong(seen, phase::running, std::memory_order_acq_rel)) {
    run_chain(context, block.finish());
    return;
  }
  promise_base& body = *block.body_;
  body.env = &block.env_;
  body.home = block.target_;
  body.on_final = &root::body_ended;
  body.link = &block;
  run_chain(context, body.handle());
}

std::coroutine_handle<> root::body_ended(promise_base& body) noexcept {
  auto& block = *static_cast<root*>(body.link);
  block.phase_.store(phase::done, std::memory_order_release);
  return block.finish();
}

std::coroutine_handle<> root::finish() noexcept {
  runtime::impl& owner = env_.runtime()->implementation();
  env_.end();
  this_thread().env = nullptr;
  const std::coroutine_handle<> go_on = ended();
  // Last: the runtime may end once it has counted this task.
  owner.task_ended();
  return go_on;
}

namespace {

void* const done_mark = reinterpret_cast<void*>(std::uintptr_t{1});       // NOLINT
void* const stopped_mark = reinterpret_cast<void*>(std::uintptr_t{2});    // NOLINT
void* const abandoned_mark = reinterpret_cast<void*>(std::uintptr_t{3});  // NOLINT
void* const blocking_mark = reinterpret_cast<void*>(std::uintptr_t{4});   // NOLINT

}  // namespace

void joinable_root::release() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool joinable_root::is_done() const noexcept {
  return joiner_.load(std::memory_order_acquire) == done_mark;  // pairs with ended()
}

bool joinable_root::register_joiner(leaf& waiter) noexcept {
  void* seen = nullptr;
  if (joiner_.compare_exchange_strong(seen, &waiter, std::memory_order_acq_rel)) return true;
  if (seen == stopped_mark) {
    // The stop of this very await came first. Back to null, for a later await; it may be done, too.
    waiter.set_cancelled();
    joiner_.compare_exchange_strong(seen, nullptr, std::memory_order_acq_rel);
    return false;
  }
  TANDEM_ASSERT(seen == done_mark, "a join_handle is awaited by two tasks at once");
  return false;
}

bool joinable_root::remove_joiner(leaf& waiter) noexcept {
  void* seen = &waiter;
  if (joiner_.compare_exchange_strong(seen, nullptr, std::memory_order_acq_rel)) return true;
  if (seen == nullptr) {
    // Not registered yet: leave word. If it registers or ends in between, that stands.
    if (joiner_.compare_exchange_strong(seen, stopped_mark, std::memory_order_acq_rel))
      return false;
    if (seen == &waiter) {
      return joiner_.compare_exchange_strong(seen, nullptr, std::memory_order_acq_rel);
    }
  }
  return false;
}

void joinable_root::wait_blocking() noexcept {
  void* seen = nullptr;
  if (!joiner_.compare_exchange_strong(seen, blocking_mark, std::memory_order_acq_rel)) {
    TANDEM_ASSERT(seen == done_mark, "a join_handle is awaited and waited for at once");
    return;
  }
  while (blocking_.load(std::memory_order_acquire) == 0) platform::wait_outside(blocking_, 0);
}

std::coroutine_handle<> joinable_root::ended() noexcept {
  void* const before = joiner_.exchange(done_mark, std::memory_order_acq_rel);
  if (before == abandoned_mark) {
    if (!removed() && failed_for_real()) {
      unhandled_in_detached(owner(), env_block(), body().exception());
    }
  } else if (before == blocking_mark) {
    blocking_.store(1, std::memory_order_release);  // pairs with wait_blocking
    platform::wake_all(blocking_);
  } else if (before != nullptr && before != stopped_mark) {
    static_cast<leaf*>(before)->finish();
  }
  release();
  return std::noop_coroutine();
}

void joinable_root::abandon() noexcept {
  void* const before = joiner_.exchange(abandoned_mark, std::memory_order_acq_rel);
  TANDEM_ASSERT(before == nullptr || before == done_mark || before == stopped_mark,
                "a join_handle was destroyed while it was awaited");
  if (before == done_mark && !taken_ && !removed() && failed_for_real()) {
    unhandled_in_detached(owner(), env_block(), body().exception());
  }
  release();
}

bool join_leaf::start(promise_base& waiting) noexcept {
  if (!begin(waiting)) return false;
  if (target_->register_joiner(*this)) return true;
  return !finish_inline();
}

bool join_leaf::on_stop(stop_waiter& self) noexcept {
  auto& waiter = static_cast<join_leaf&>(self);
  if (waiter.target_->remove_joiner(waiter)) waiter.finish_stopped();
  return true;
}

}  // namespace tandem::inline v0::detail
