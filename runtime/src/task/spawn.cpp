// spawn.cpp: waiting for a spawned task: by a call, if it is still queued, or until it has ended; taking it back.
// SPDX-License-Identifier: MIT
#include <tandem/spawn.hpp>

#include <algorithm>
#include <string_view>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/errors.hpp>

#include "platform/futex.hpp"
#include "pool/worker_pool_impl.hpp"
#include "process/fork_guard.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0::detail {

namespace {

void* const done_mark = reinterpret_cast<void*>(std::uintptr_t{1});       // NOLINT
void* const stopped_mark = reinterpret_cast<void*>(std::uintptr_t{2});    // NOLINT
void* const abandoned_mark = reinterpret_cast<void*>(std::uintptr_t{3});  // NOLINT
void* const blocking_mark = reinterpret_cast<void*>(std::uintptr_t{4});   // NOLINT

}  // namespace

void joinable_root::throw_removed() const {
  const stop_reason why = env_block().stop().reason();
  throw operation_cancelled(why != stop_reason::none ? why : stop_reason::user);
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

void joinable_root::wait_blocking() {
  void* seen = nullptr;
  if (!joiner_.compare_exchange_strong(seen, blocking_mark, std::memory_order_acq_rel)) {
    TANDEM_ASSERT(seen == done_mark, "a join_handle is awaited and waited for at once");
    return;
  }
  if (driven_loop* const loop = owner().implementation().loop.get()) {
    drive_until_done(*loop);
    return;
  }
  while (blocking_.load(std::memory_order_acquire) == 0) platform::wait_outside(blocking_, 0);
}

void joinable_root::drive_until_done(driven_loop& loop) {
  const driven_loop::condition done(
      [](const void* self) noexcept {
        return static_cast<const joinable_root*>(self)->blocking_.load(std::memory_order_acquire) !=
               0;
      },
      this);
  if (loop.run_until(done, platform::no_deadline) == driven_loop::ending::done) return;
  joiner_.store(nullptr, std::memory_order_relaxed);  // nothing runs that could read it
  throw stalled("the task", owner().live_tasks(), loop.seed(),
                describe_waits(*owner().implementation().insight));
}

std::coroutine_handle<> joinable_root::ended() noexcept {
  void* const before = joiner_.exchange(done_mark, std::memory_order_acq_rel);
  if (before == abandoned_mark) {
    if (!removed() && failed_for_real()) {
      unhandled_in_detached(owner(), env_block(), take_failure());
    }
  } else if (before == blocking_mark) {
    blocking_.store(1, std::memory_order_release);  // pairs with wait_blocking
    platform::wake_all(blocking_);
    // The task counts as alive until this has returned, so the runtime is there.
    if (driven_loop* const loop = owner().implementation().loop.get()) loop->notify();
  } else if (before != nullptr && before != stopped_mark) {
    static_cast<leaf*>(before)->end();
  }
  release();
  return std::noop_coroutine();
}

void joinable_root::abandon() noexcept {
  // Once it is done it stays so.
  void* const before =
      is_done() ? done_mark : joiner_.exchange(abandoned_mark, std::memory_order_acq_rel);
  TANDEM_ASSERT(before == nullptr || before == done_mark || before == stopped_mark,
                "a join_handle was destroyed while it was awaited");
  if (before == done_mark && !taken_ && !removed() && failed_for_real()) {
    unhandled_in_detached(owner(), env_block(), take_failure());
  }
  release();
}

void joinable_root::release() noexcept {
  // Whoever has the only one may as well not write: nobody gets another one but from somebody who
  // has one.
  if (references_.load(std::memory_order_acquire) == 1 ||
      references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete this;
  }
}

void joinable_root::forget() noexcept {
  release();
  release();
}

void joinable_root::start_job_is_late() noexcept { release(); }

joinable_root::join joinable_root::run_here(promise_base& waiting) noexcept {
  thread_context& context = this_thread();
  if (!is_queued_at(waiting.home) || context.budget == 0 || too_deep(context) ||
      waiting.env->stop().stop_requested()) {
    return join::not_begun;
  }
  // changes/timing. This segment began before anybody was observed, so it could not hand its time
  // over (records/segment).
  if (context.observed == nullptr && is_observed() && any_records()) [[unlikely]]
    return join::not_begun;
  references_.fetch_add(1, std::memory_order_relaxed);  // the start job's, which stays queued
  bool has_ended = false;
  if (!call_here(context, has_ended)) {
    release();  // never the last: the handle has one
    return join::not_begun;
  }
  --context.budget;
  // What has not ended may go on in this thread (calls/limit) before any other task: its
  // environment stays.
  if (!has_ended) return join::suspended;
  context.env = waiting.env;
  return join::ended;
}

constinit const wait_kind join_leaf::waits_for_task(
    &join_leaf::on_stop, "the end of a task", wait_end::task,
    [](const stop_waiter& wait, wait_note& note) noexcept {
      // The handle's reference keeps the block.
      const environment& awaited = static_cast<const join_leaf&>(wait).target_->env_block();
      note.task = awaited.id();
      const joinable_root& target = *static_cast<const join_leaf&>(wait).target_;
      if (!target.looks_queued()) return;
      // The end of the path is what is told, if it is long.
      const std::string_view file = awaited.spawned_at().file_name();
      constexpr std::size_t most = 48;
      note.say("that has not begun, spawned at %s%s:%u", file.size() > most ? "..." : "",
               file.data() + (file.size() - std::min(file.size(), most)),
               static_cast<unsigned>(awaited.spawned_at().line()));
    });

bool join_leaf::start(promise_base& waiting) noexcept {
  const joinable_root::join ran = target_->run_here(waiting);
  if (ran == joinable_root::join::ended) return false;
  if (ran == joinable_root::join::not_begun) return wait(waiting);
  // What the suspended task has left in the lane lies above what this stack knows of (joins/next),
  // so this stack unwinds, even if the task has ended elsewhere by now.
  if (!wait(waiting)) waiting.post();
  return true;
}

bool join_leaf::wait(promise_base& waiting) noexcept {
  if (!begin(waiting)) return false;
  if (target_->register_joiner(*this)) return true;
  return !finish_unposted();
}

bool join_leaf::on_stop(stop_waiter& self) noexcept {
  auto& waiter = static_cast<join_leaf&>(self);
  if (waiter.target_->remove_joiner(waiter)) waiter.finish_stopped();
  return true;
}

bool join_leaf::arm(select_place& as) noexcept {
  join_later(as, &join_leaf::let_go, wait_end::anybody);
  if (target_->register_joiner(*this)) return false;
  not_armed();
  return true;
}

bool join_leaf::let_go(leaf& self) noexcept {
  auto& waiter = static_cast<join_leaf&>(self);
  return waiter.target_->remove_joiner(waiter);
}

promise_base* joinable_root::take_back_frame(stop_reason reason) noexcept {
  if (is_forked(owner())) return nullptr;  // it runs in the parent only
  promise_base* const frame = take_unstarted();
  if (frame != nullptr) leave_queue(reason);
  return frame;
}

void joinable_root::leave_queue(stop_reason reason) noexcept {
  if (!note()) return;  // no submission: its start job ends it
  // submissions/meet_worker. The task counts as alive until the second of two has ended it, and
  // one of them is here: so the pool is there. What has left keeps the block, so the coroutine goes
  // now.
  destroy_removed();
  env_block().stop().request_stop(reason);
  worker_pool::impl& pool = static_cast<worker_pool*>(env_block().home())->implementation();
  const visit here(pool, pool.visiting);
  if (pool.desk.leave_queue(*this)) {
    end_removed(reason);
  } else if (handed_.exchange(true, std::memory_order_acq_rel)) {
    tandem::runtime& counted_at = owner();
    end_removed(reason);
    release_clock(counted_at);  // left_to_remover()
  }
}

bool joinable_root::left_to_remover() noexcept {
  if (!note()) return false;
  // submissions/hold_clock: until the remover has ended it. It is about to, and there is nothing
  // else that tells.
  tandem::runtime& counted_at = owner();
  hold_clock(counted_at);
  if (!handed_.exchange(true, std::memory_order_acq_rel)) return true;
  release_clock(counted_at);
  return false;
}

}  // namespace tandem::inline v0::detail
