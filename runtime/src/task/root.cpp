// root.cpp: the life of a spawned task.
// SPDX-License-Identifier: MIT
#include <tandem/detail/root.hpp>

#include <tandem/detail/context_entry.hpp>
#include <tandem/errors.hpp>
#include <tandem/spawn.hpp>

#include "observe/observed_segment.hpp"
#include "observe/task_observer.hpp"
#include "platform/platform.hpp"
#include "pool/worker.hpp"
#include "pool/worker_pool_impl.hpp"
#include "runtime/fork_guard.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0::detail {

namespace {

/// After the end.
task_outcome outcome_of(const root& task) noexcept {
  if (task.removed()) return task_outcome::removed;
  if (!task.has_failed()) return task_outcome::completed;
  return task.failed_for_real() ? task_outcome::failed : task_outcome::cancelled;
}

/// records/end. Before anybody else hears of the end.
void tell_end(root& task) noexcept {
  task_record* const record = task.env_block().record();
  if (record == nullptr) return;
  task.env_block().set_record(nullptr);
  task_observer::task_ended(*record, outcome_of(task));
}

}  // namespace

root::root(tandem::runtime& owner, executor& target, promise_base& body, outcome_base& result,
           const std::source_location& where, bool note) noexcept
    : job(&root::start_job),
      state_(reinterpret_cast<state>(&body) | (note ? note_bit : 0)),  // NOLINT
      env_(&owner, &target) {
  static_assert(alignof(promise_base) >= 8 && alignof(outcome_base) >= 8);
  job::env = &env_;
  env_.set_spawned_at(where);
  body.room = &result;
}
root::~root() {
  const state last = state_.load(std::memory_order_relaxed);  // nobody else is left
  if (phase_of(last) < running_phase && (last & pointer_mask) != 0) {
    destroy_unstarted(body_of(last));
  }
  if (env_.context() != nullptr) release_context(env_.context());
}

void root::launch(environment* parent, context_flow flow) noexcept {
  env_.runtime()->implementation().task_started();
  link_and_post(parent, flow);
}

bool root::launch_from_outside() noexcept {
  runtime::impl& owner = env_.runtime()->implementation();
  if (is_forked(*env_.runtime())) return false;
  if (owner.loop != nullptr) [[unlikely]] {
    // driving/clock. It is counted before it is posted, and before it is refused: whoever drives
    // must not take it for a task that waits for ever.
    const worker_pool::impl::visit here(owner.pool.implementation());
    return launch_if_admitted();
  }
  return launch_if_admitted();
}

bool root::launch_if_admitted() noexcept {
  if (!env_.runtime()->implementation().admit_task()) return false;
  link_and_post(nullptr, context_flow::captured);
  return true;
}

void root::launch_unposted() noexcept {
  env_.runtime()->implementation().task_started();
  link(nullptr, context_flow::captured);
}

void root::take_back() noexcept {
  delete env_.record();  // records/end: the pool refused it, so it was no task
  env_.end();
  env_.runtime()->implementation().task_ended();
}

promise_base* root::take_unstarted() noexcept {
  state seen = state_.load(std::memory_order_acquire);
  while (phase_of(seen) == queued_phase) {
    const state without_frame = removed_phase | (seen & note_bit);
    if (state_.compare_exchange_weak(seen, without_frame, std::memory_order_acq_rel)) {
      return &body_of(seen);
    }
  }
  return nullptr;
}

void root::drop(stop_reason reason) noexcept {
  state seen = state_.load(std::memory_order_acquire);
  while (phase_of(seen) == queued_phase) {
    if (state_.compare_exchange_weak(seen, seen | removed_phase, std::memory_order_acq_rel)) {
      end_removed(reason);
      return;
    }
  }
  if (phase_of(seen) != removed_phase) {
    start_job_is_late();
  } else if (!left_to_remover()) {
    end_removed(reason);
  }
}

void root::destroy_removed() noexcept {
  // Relaxed: nobody else changes the word of a removed task, nor looks at its frame.
  const state seen = state_.load(std::memory_order_relaxed);
  if ((seen & pointer_mask) == 0) return;
  state_.store(seen & ~pointer_mask, std::memory_order_relaxed);
  destroy_unstarted(body_of(seen));
}

void root::end_removed(stop_reason reason) noexcept {
  env_.stop().request_stop(reason);
  // Whoever drops may be a task itself.
  environment* const interrupted = this_thread().env;
  (void)finish_removed();  // whoever joins it is posted: there is nothing to go on with here
  this_thread().env = interrupted;
}

void root::link_and_post(environment* parent, context_flow flow) noexcept {
  link(parent, flow);
  env_.home()->post(this, post_kind::spawn);
}

void root::link(environment* parent, context_flow flow) noexcept {
  runtime::impl& owner = env_.runtime()->implementation();
  parent != nullptr ? env_.start_below(*parent)
                    : env_.start();  // the latter is linked later: stopping/late_root
  const environment* const spawner = this_thread().env;
  const context_entry* const captured =
      flow == context_flow::captured && spawner != nullptr ? spawner->context() : nullptr;
  env_.set_context(captured);
  // One branch for both, so that a runtime without hooks pays for none of its own.
  const auto observes = reinterpret_cast<std::uintptr_t>(owner.observer.get());  // NOLINT
  if ((reinterpret_cast<std::uintptr_t>(captured) | observes) != 0)              // NOLINT
    link_rest(captured);
}

void root::link_rest(const context_entry* captured) noexcept {
  if (captured != nullptr) keep_context(captured);
  task_observer* const observer = env_.runtime()->implementation().observer.get();
  if (observer == nullptr) return;
  job::run = &root::start_observed_job;  // records/make
  env_.set_record(observer->task_spawned(env_));
}

promise_base* root::begin(state& seen) noexcept {
  seen = state_.load(std::memory_order_acquire);
  while (phase_of(seen) == queued_phase) {
    if (!state_.compare_exchange_weak(seen, seen | running_phase, std::memory_order_acq_rel))
      continue;
    // Only now is the frame ours: another starter may have run it to its end meanwhile.
    promise_base& body = body_of(seen);
    // Relaxed: nobody asks for the room before the task has ended.
    state_.store(reinterpret_cast<state>(body.room) | (seen & note_bit) | running_phase,  // NOLINT
                 std::memory_order_relaxed);
    // stopping/late_root. By who runs it, and mostly ends it, too: so the list's lock stays in that
    // CPU's cache.
    if (env_.parent() == nullptr) env_.stop().link(env_.runtime()->implementation().root_stop());
    return &body;
  }
  return nullptr;
}

void root::set_done() noexcept {
  // Only a running task ends, and nobody else changes the word then. Release: pairs with
  // result_room().
  state_.store(state_.load(std::memory_order_relaxed) | done_phase, std::memory_order_release);
}

cancel_result root::cancel(stop_reason reason) noexcept {
  if (is_forked(*env_.runtime())) return cancel_result::already_done;  // it runs in the parent only
  state seen = state_.load(std::memory_order_acquire);
  while (phase_of(seen) == queued_phase) {
    if (state_.compare_exchange_weak(seen, seen | removed_phase, std::memory_order_acq_rel)) {
      leave_queue(reason);
      return cancel_result::removed_before_start;
    }
  }
  if (phase_of(seen) != running_phase) return cancel_result::already_done;
  env_.stop().request_stop(reason);
  return cancel_result::stop_requested;
}

bool root::failed_for_real() const noexcept {
  const outcome_base* const result = result_room();
  if (result == nullptr || result->error == nullptr) return false;
  return !env_.stop().stop_requested() || !is_cancellation(result->error);
}

class root::starter {
 public:
  /// Inline in both places: the first is what a task of a runtime without hooks pays for.
  TANDEM_ALWAYS_INLINE static void start(root& block, thread_context& context,
                                         observed_segment* here) noexcept {
    state seen = 0;
    if (promise_base* const body = block.begin(seen)) {
      promise_base& prepared = block.prepare(*body, 0);
      if (here != nullptr) {
        prepared.on_final = &root::observed_body_ended;
        (void)here->enter(block.env_.record());
      }
      run_chain(context, prepared.handle());
    } else if (phase_of(seen) == removed_phase) {
      if (!block.left_to_remover()) run_chain(context, block.finish_removed());
    } else {
      block.start_job_is_late();
    }
  }
};

void root::start_job(job* self) noexcept {
  starter::start(*static_cast<root*>(self), this_thread(), nullptr);
}

void root::start_observed_job(job* self) noexcept {
  thread_context& context = this_thread();
  observed_segment here(context);
  starter::start(*static_cast<root*>(self), context, &here);
}

promise_base& root::prepare(promise_base& body, std::uint64_t segment) noexcept {
  body.env = &env_;
  body.home = env_.home();
  body.continuation = nullptr;
  body.on_final = &root::body_ended;
  body.link = this;
  body.segment = segment;
  return body;
}

bool root::call_here(thread_context& context, bool& has_ended) noexcept {
  state seen = 0;
  promise_base* const body = begin(seen);
  if (body == nullptr) return false;
  context.env = &env_;
  observed_segment* const here = context.observed;
  if (here != nullptr) [[unlikely]] {
    has_ended = call_observed(context, *here, *body);
    return true;
  }
  has_ended = call(context, prepare(*body, context.segment));
  if (has_ended) {
    // On this stack, so not by way of body_ended().
    set_done();
    (void)finish();
  }
  return true;
}

bool root::call_observed(thread_context& context, observed_segment& here,
                         promise_base& body) noexcept {
  task_record* const joiner = here.enter(env_.record());  // records/segment
  promise_base& prepared = prepare(body, context.segment);
  prepared.on_final = &root::observed_body_ended;
  if (!call(context, prepared)) return false;
  set_done();
  tell_end(*this);
  (void)finish();
  here.go_on_with(joiner);
  return true;
}

void root::start_job_is_late() noexcept {}
void root::leave_queue(stop_reason /*reason*/) noexcept {}
bool root::left_to_remover() noexcept { return false; }

std::coroutine_handle<> root::body_ended(const ended_frame& body) noexcept {
  auto& block = *static_cast<root*>(body.link);
  block.set_done();
  return block.finish();
}

std::coroutine_handle<> root::observed_body_ended(const ended_frame& body) noexcept {
  auto& block = *static_cast<root*>(body.link);
  block.set_done();
  tell_end(block);
  return block.finish();
}

std::coroutine_handle<> root::finish_removed() noexcept {
  tell_end(*this);
  return finish();
}

std::coroutine_handle<> root::finish() noexcept {
  runtime::impl& owner = env_.runtime()->implementation();
  executor* const counted = env_.home()->counts_tasks() ? env_.home() : nullptr;
  env_.end();
  thread_context& context = this_thread();
  context.env = nullptr;
  if (context.current_worker != nullptr && !removed()) context.current_worker->tasks.add();
  const std::coroutine_handle<> go_on = ended();
  if (counted != nullptr) counted->end_task();
  // Last: the runtime may end once it has counted this task.
  owner.task_ended();
  return go_on;
}

}  // namespace tandem::inline v0::detail
