// root.cpp: the life of a spawned task.
// SPDX-License-Identifier: MIT
#include <tandem/detail/root.hpp>

#include <tandem/detail/context_entry.hpp>
#include <tandem/errors.hpp>
#include <tandem/spawn.hpp>

#include "crew/worker.hpp"
#include "observe/observed_segment.hpp"
#include "observe/task_observer.hpp"
#include "pool/worker_pool_impl.hpp"
#include "process/fork_guard.hpp"
#include "recorder/trace_point.hpp"
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
  if (is_recorded()) record_task_end(task.env_block(), outcome_of(task));
  task_record* const record = task.env_block().record();
  if (record == nullptr) return;
  task.env_block().set_record(nullptr);
  task_observer::task_ended(*record, outcome_of(task));
}

}  // namespace

constinit const environment_kind root::kind_of_root(
    "task", true, [](const environment& of, wait_note& note) noexcept {
      if (static_cast<const root*>(of.part())->state_.looks_queued()) {
        note.say("has not begun: it is queued");
      }
    });

root::root(tandem::runtime& owner, executor& target, promise_base& body, outcome_base& result,
           const std::source_location& where, bool note) noexcept
    : job(&root::start_job), state_(body, note), env_(&owner, &target, kind_of_root, this) {
  job::env = &env_;
  env_.set_spawned_at(where);
  body.room = &result;
}
root::~root() {
  destroy_removed();  // nobody else is left
  if (env_.context() != nullptr) release_context(env_.context());
}

void root::launch(environment* parent, context_flow flow) noexcept {
  env_.runtime()->implementation().task_started();
  link_and_post(parent, flow);
}

bool root::launch_from_outside() noexcept {
  runtime::impl& owner = env_.runtime()->implementation();
  if (is_forked(*env_.runtime())) return false;
  const auto launch_if_admitted = [&] {
    if (!owner.admit_task()) return false;
    link_and_post(nullptr, context_flow::captured);
    return true;
  };
  if (owner.loop != nullptr) [[unlikely]] {
    // driving/clock. It is counted before it is posted, and before it is refused: whoever drives
    // must not take it for a task that waits for ever.
    worker_pool::impl& pool = owner.pool.implementation();
    const visit here(pool, pool.visiting);
    return launch_if_admitted();
  }
  return launch_if_admitted();
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

promise_base* root::take_unstarted() noexcept { return state_.take_frame(); }

void root::drop(stop_reason reason) noexcept {
  switch (state_.remove()) {
    case root_state::phase::queued: end_removed(reason); break;
    case root_state::phase::removed:
      if (!left_to_remover()) end_removed(reason);
      break;
    default: start_job_is_late();
  }
}

void root::destroy_removed() noexcept {
  if (promise_base* const frame = state_.give_up_frame()) destroy_unstarted(*frame);
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
  parent != nullptr ? env_.start_task_below(*parent)
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
  if (is_recorded()) record_spawn(env_);
}

promise_base* root::begin(root_state::phase& found) noexcept {
  promise_base* const body = state_.begin(found);
  // stopping/late_root. By who runs it, and mostly ends it, too: so the list's lock stays in that
  // CPU's cache.
  if (body != nullptr && env_.parent() == nullptr) {
    env_.stop().link(env_.runtime()->implementation().root_stop());
  }
  return body;
}

cancel_result root::cancel(stop_reason reason) noexcept {
  if (is_forked(*env_.runtime())) return cancel_result::already_done;  // it runs in the parent only
  switch (state_.remove()) {
    case root_state::phase::queued: leave_queue(reason); return cancel_result::removed_before_start;
    case root_state::phase::running:
      env_.stop().request_stop(reason);
      return cancel_result::stop_requested;
    default: return cancel_result::already_done;
  }
}

bool root::failed_for_real() const noexcept {
  const outcome_base* const result = state_.result_room();
  if (result == nullptr || result->error == nullptr) return false;
  return !env_.stop().stop_requested() || !is_cancellation(result->error);
}

class root::starter {
 public:
  /// Inline in both places: the first is what a task of a runtime without hooks pays for.
  TANDEM_ALWAYS_INLINE static void start(root& block, thread_context& context,
                                         observed_segment* here, recorded_job* recorded) noexcept {
    root_state::phase found{};
    if (promise_base* const body = block.begin(found)) {
      promise_base& prepared = block.prepare(*body, 0);
      if (here != nullptr) {
        prepared.on_final = &root::observed_body_ended;
        (void)here->enter(block.env_.record());
        if (is_recorded()) recorded->begins(block.env_);
      }
      run_chain(context, prepared.handle());
    } else if (found == root_state::phase::removed) {
      if (!block.left_to_remover()) run_chain(context, block.finish_removed());
    } else {
      block.start_job_is_late();
    }
  }
};

const root* root::queued_task(const job& start) noexcept {
  if (start.run != &root::start_job && start.run != &root::start_observed_job) return nullptr;
  const auto& task = static_cast<const root&>(start);
  return task.env_.parent() == nullptr && task.state_.looks_queued() ? &task : nullptr;
}

void root::start_job(job* self) noexcept {
  starter::start(*static_cast<root*>(self), this_thread(), nullptr, nullptr);
}

void root::start_observed_job(job* self) noexcept {
  thread_context& context = this_thread();
  recorded_job recorded(context);
  observed_segment here(context);
  starter::start(*static_cast<root*>(self), context, &here, &recorded);
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
  root_state::phase found{};
  promise_base* const body = begin(found);
  if (body == nullptr) return false;
  context.env = &env_;
  observed_segment* const here = context.observed;
  if (here != nullptr || is_observed()) [[unlikely]] {
    has_ended = call_observed(context, here, *body);
    return true;
  }
  has_ended = call(context, prepare(*body, context.segment));
  if (has_ended) {
    // On this stack, so not by way of body_ended().
    state_.end();
    (void)finish();
  }
  return true;
}

bool root::call_observed(thread_context& context, observed_segment* here,
                         promise_base& body) noexcept {
  // records/segment. Null: nothing has a record, it is only recorded.
  task_record* const joiner = here != nullptr ? here->enter(env_.record()) : nullptr;
  if (is_recorded()) (void)record_slowly(context, trace_kind::call, env_);
  promise_base& prepared = prepare(body, context.segment);
  prepared.on_final = &root::observed_body_ended;
  if (!call(context, prepared)) return false;
  state_.end();
  tell_end(*this);
  (void)finish();
  record_back(context);
  if (here != nullptr) here->go_on_with(joiner);
  return true;
}

void root::start_job_is_late() noexcept {}
void root::leave_queue(stop_reason /*reason*/) noexcept {}
bool root::left_to_remover() noexcept { return false; }

std::coroutine_handle<> root::body_ended(const ended_frame& body) noexcept {
  auto& block = *static_cast<root*>(body.link);
  block.state_.end();
  return block.finish();
}

std::coroutine_handle<> root::observed_body_ended(const ended_frame& body) noexcept {
  auto& block = *static_cast<root*>(body.link);
  block.state_.end();
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
