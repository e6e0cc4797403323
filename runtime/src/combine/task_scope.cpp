// task_scope.cpp: counting children, the first failure, and leaving.
// SPDX-License-Identifier: MIT
#include <tandem/task_scope.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <new>
#include <utility>

#include <tandem/detail/admission.hpp>
#include <tandem/errors.hpp>
#include <tandem/runtime.hpp>

#include "combine/scope_watch.hpp"
#include "process/suppressed.hpp"

namespace tandem::inline v0 {

constinit const detail::environment_kind task_scope::surrounds_scope(
    "scope", false,
    [](const environment& of, detail::wait_note& note) noexcept {
      const task_scope& self = *static_cast<const detail::scope_environment&>(of).scope;
      const bool joins = self.joiner_.load(std::memory_order_acquire) != nullptr;
      const std::uint32_t holds = self.holds_.load(std::memory_order_relaxed);  // about now
      const std::uint32_t children = holds - (joins ? 0U : 1U);
      note.say("with %u %s%s", children,
               children == 1 ? "child that has not ended" : "children that have not ended",
               joins ? ", which its body waits for" : "");
    },
    [](const environment& of) noexcept -> const detail::promise_base* {
      // scopes/look
      const task_scope& self = *static_cast<const detail::scope_environment&>(of).scope;
      return self.joiner_.load(std::memory_order_acquire);  // pairs with wait_for_children()
    });

void task_scope::spawn_frame(executor& target, detail::promise_base& child, bool has_place,
                             const std::source_location& where) {
  detail::scope_child* block = nullptr;
  try {
    detail::admission place(target);
    block = new detail::scope_child(*env_.runtime(), target, child, has_place, where);
    place.keep();
  } catch (...) {
    if (has_place) places_.give_back();
    detail::destroy_unstarted(child);
    throw;
  }
  if (body_begin_.load(std::memory_order_acquire) != nullptr) [[unlikely]]
    look_for_borrowed(child, *block, where);
  // scopes/count: before it is posted; we hold one ourselves
  holds_.fetch_add(1, std::memory_order_relaxed);
  block->launch(&env_);
}

void task_scope::note_body(detail::promise_base& body) noexcept {
  const detail::noted_frame* const found = detail::find_noted(body.handle().address());
  if (found == nullptr) [[likely]]
    return;
  const auto* const begin = static_cast<const char*>(found->frame);
  body_end_.store(begin + found->bytes, std::memory_order_relaxed);
  body_begin_.store(begin, std::memory_order_release);
}

void task_scope::look_for_borrowed(detail::promise_base& child, const detail::scope_child& block,
                                   const std::source_location& where) noexcept {
  const detail::noted_frame* const found = detail::find_noted(child.handle().address());
  if (found == nullptr) return;
  const void* const begin = body_begin_.load(std::memory_order_acquire);
  const void* const end = body_end_.load(std::memory_order_relaxed);
  const auto lies_in_body = [begin, end](const void* given) {
    return given != nullptr && !std::less<>()(given, begin) && std::less<>()(given, end);
  };
  if (!std::any_of(found->references.begin(),
                   found->references.begin() + static_cast<std::ptrdiff_t>(found->count),
                   lies_in_body)) {
    return;
  }
  detail::scope_watch* watch = watch_.load(std::memory_order_acquire);
  if (watch == nullptr) {
    auto* const made = new (std::nothrow) detail::scope_watch;
    if (made == nullptr) return;
    if (watch_.compare_exchange_strong(watch, made, std::memory_order_acq_rel)) {
      watch = made;
    } else {
      delete made;  // another child was quicker
    }
  }
  watch->add(block, where);
}

void task_scope::report_left_behind() noexcept {
  watch_.load(std::memory_order_acquire)->body_has_ended();
}

void task_scope::end_watch() noexcept { delete watch_.load(std::memory_order_relaxed); }

bool task_scope::wait_for_children(detail::promise_base& waiting) noexcept {
  joiner_.store(&waiting, std::memory_order_release);  // pairs with a look
  // scopes/wait. acq_rel: publishes joiner_ to the last child, and takes over what the children
  // wrote.
  if (holds_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
  holds_.store(1, std::memory_order_relaxed);  // nobody else is left
  joiner_.store(nullptr, std::memory_order_relaxed);
  return true;
}

void task_scope::child_ended() noexcept {
  // scopes/last_hold. The last hold: the body has given up its own, so joiner_ is set and nobody
  // spawns.
  if (holds_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  holds_.store(1, std::memory_order_relaxed);  // the body's, again
  detail::promise_base& joiner = *joiner_.exchange(nullptr, std::memory_order_relaxed);
  if (joining_ == nullptr || joining_->finish()) joiner.post();
}

void task_scope::note_failure(std::exception_ptr failure) noexcept {
  if (env_.stop().stop_requested() && detail::is_cancellation(failure)) {
    cut_short_.store(true, std::memory_order_relaxed);  // ordered by the join
    return;
  }
  if (claimed_.exchange(true, std::memory_order_acq_rel)) {
    detail::suppressed(env_.runtime()->options(), failure);
    return;
  }
  first_failure_ = std::move(failure);
  failed_.store(true, std::memory_order_release);  // pairs with take_first_failure()
  // scopes/fail: our hold keeps the scope alive
  env_.stop().request_stop(stop_reason::sibling_failed);
}

namespace detail {

std::coroutine_handle<> scope_child::ended() noexcept {
  task_scope& scope = *static_cast<scope_environment*>(env_block().parent())->scope;
  if (has_failed()) scope.note_failure(take_failure());
  const bool has_place = note();
  // scopes/watch. acquire: pairs with look_for_borrowed().
  if (scope_watch* const watch = scope.watch_.load(std::memory_order_acquire)) [[unlikely]]
    watch->ended(*this);
  delete this;
  if (has_place) scope.places_.give_back();
  scope.child_ended();
  return std::noop_coroutine();
}

bool scope_join_awaiter::await_ready() const noexcept {
  return scope_->holds_.load(std::memory_order_acquire) == 1;  // pairs with child_ended
}

constinit const wait_kind scope_join_awaiter::listens_for_scope(&scope_join_awaiter::on_stop,
                                                                "its scope's stop");

scope_join_awaiter::scope_join_awaiter(task_scope& scope) noexcept
    : stop_listener(listens_for_scope, &scope_join_awaiter::go_on), scope_(&scope) {}

bool scope_join_awaiter::start(promise_base& waiting) noexcept {
  waiting_ = &waiting;
  scope_->joining_ = nullptr;
  if (waiting.env != &scope_->env_) {
    // scopes/join. A stop of the scope itself reaches the children by itself, this one only by us.
    listening_ = waiting.env->stop().listen(*this);
    if (!listening_) scope_->request_stop(waiting.env->stop().reason());
    scope_->joining_ = listening_ ? this : nullptr;
  }
  if (!scope_->wait_for_children(waiting)) return true;
  return !finish();
}

bool scope_join_awaiter::finish() noexcept {
  // stopping/hand_over: if a stopper has the listener, the second to hand over goes on with the
  // task.
  return !listening_ || waiting_->env->stop().take_back(*this);
}

bool scope_join_awaiter::on_stop(stop_waiter& self) noexcept {
  auto& join = static_cast<scope_join_awaiter&>(self);
  // stopping/listener: no stop lock is held here; the scope's lies above that of the block around
  // the join.
  join.scope_->request_stop(join.waiting_->env->stop().reason());
  return true;
}

void scope_join_awaiter::go_on(stop_listener& self) noexcept {
  static_cast<scope_join_awaiter&>(self).waiting_->post();
}

std::exception_ptr scope_join_awaiter::await_failure() noexcept {
  scope_->joining_ = nullptr;
  return scope_->take_first_failure();
}

void scope_join_awaiter::await_resume() {
  if (std::exception_ptr failure = await_failure()) std::rethrow_exception(std::move(failure));
}

scope_spawn_awaiter::scope_spawn_awaiter(task_scope& scope, executor* target, task<void>&& child,
                                         const std::source_location& where) noexcept
    : place_waiter(scope.places_),
      scope_(&scope),
      target_(target),
      child_(std::move(child)),
      where_(where) {
  TANDEM_ASSERT(child_, "task_scope::spawn_when_free was given an empty task");
}

void scope_spawn_awaiter::await_resume() {
  throw_if_cancelled();
  scope_->spawn_frame(*target_, child_.release(), true, where_);
}

void scope_runner::open(promise_base& parent, outcome_base& result) noexcept {
  env_.scope = this;
  env_.set_kind(surrounds_scope, this);
  env_.start_below(*parent.env);
  env_.set_home(parent.home);
  body_result_ = &result;
  this_thread().env = &env_;
}

void scope_runner::start(promise_base& body, promise_base& parent) noexcept {
  body.inherit(parent, *body_result_, &scope_runner::body_ended, this);
  body.env = &env_;
  note_body(body);
}

std::coroutine_handle<> scope_runner::body_has_thrown(promise_base& parent) noexcept {
  note_failure(body_result_->error);
  if (!wait_for_children(parent)) return std::noop_coroutine();  // scopes/wait
  this_thread().env = parent.env;
  return parent.handle();
}

std::exception_ptr scope_runner::leave() noexcept {
  if (!std::exchange(has_left_, true)) env_.end();
  if (std::exception_ptr failure = take_first_failure()) return failure;
  // Children that gave up because the caller was stopped: what the scope was for has not been done.
  const stop_reason callers = env_.parent()->stop().reason();
  return was_cut_short() && callers != stop_reason::none ? cancellation(callers) : nullptr;
}

std::coroutine_handle<> scope_runner::body_ended(const ended_frame& body) noexcept {
  auto& self = *static_cast<scope_runner*>(body.link);
  promise_base& parent = *body.continuation;
  self.body_is_gone();
  if (self.body_result_->error != nullptr) self.note_failure(self.body_result_->error);
  if (!self.wait_for_children(parent)) return std::noop_coroutine();
  this_thread().env = parent.env;
  return continue_with(parent, body.home);
}

}  // namespace detail

}  // namespace tandem::inline v0
