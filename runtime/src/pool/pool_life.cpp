// pool_life.cpp: how a pool ends: shutdown, stop, tidying, terminated. Protocol submissions: runtime/src/submit/README.md.
// SPDX-License-Identifier: MIT
#include <exception>
#include <utility>

#include <tandem/detail/forked.hpp>
#include <tandem/errors.hpp>

#include "platform/platform.hpp"
#include "pool/worker_pool_impl.hpp"
#include "runtime/fork_guard.hpp"
#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0 {

pool_state worker_pool::state() const noexcept { return impl_->state(); }
void worker_pool::shutdown() noexcept { impl_->shutdown(); }
std::vector<unstarted_task> worker_pool::shutdown_now() { return impl_->shutdown_now(); }
bool worker_pool::await_termination(std::chrono::steady_clock::duration timeout) {
  return impl_->await_termination(timeout);
}

void runtime::impl::close() noexcept {
  // submissions/end. seq_cst, in this order: a task that ends after the count was looked at sees
  // that somebody waits.
  if (!ends_are_watched_.exchange(true, std::memory_order_relaxed)) {
    draining_.fetch_add(1, std::memory_order_seq_cst);
  }
  closing.store(true, std::memory_order_seq_cst);  // pairs with admit_task
}

void runtime::impl::stop_all_roots() noexcept {
  for (root_shard& each : roots_) each.stop.request_stop(stop_reason::shutdown);
}

void worker_pool::impl::close(pool_state to) noexcept {
  // submissions/close. seq_cst: whoever has counted a task and still read "running" is waited for.
  life_.advance(to);
  owner_.implementation().close();
  submissions_.close();
}

void worker_pool::impl::shutdown() noexcept {
  if (detail::is_forked(owner_)) return;
  const visit here(*this);
  close(pool_state::shutdown);
  end_if_drained();
}

std::vector<unstarted_task> worker_pool::impl::shutdown_now() {
  detail::refuse_if_forked(owner_, "worker_pool::shutdown_now");
  const visit here(*this);
  close(pool_state::stop);
  std::vector<unstarted_task> given_back;
  try {
    given_back.reserve(submissions_.size());  // nothing enters any more
  } catch (...) {
    drop_unstarted();
    owner_.implementation().stop_all_roots();
    end_if_drained();
    throw;
  }
  while (detail::joinable_root* const each = submissions_.take_unstarted()) {
    if (detail::promise_base* const frame = each->take_unstarted()) {
      given_back.emplace_back(*frame, each->type_of_task(), each->env_block().spawned_at());
      each->end_removed(stop_reason::shutdown);
    } else {
      each->drop(stop_reason::shutdown);
    }
  }
  owner_.implementation().stop_all_roots();
  end_if_drained();
  return given_back;
}

void worker_pool::impl::close_for_runtime() noexcept {
  runtime_ends_.store(true, std::memory_order_seq_cst);  // before the first end that could see it
  close(pool_state::stop);
  drop_unstarted();
}

void worker_pool::impl::drop_unstarted() noexcept {
  while (detail::joinable_root* const each = submissions_.take_unstarted()) {
    each->drop(stop_reason::shutdown);
  }
}

void worker_pool::impl::end_if_drained() noexcept {
  // The workers are needed until the runtime's services have stopped.
  if (runtime_ends_.load(std::memory_order_seq_cst)) return;
  if (life_.is_running() || owner_.implementation().live() != 0) return;
  begin_stop(door::of_the_pool);
}

void worker_pool::impl::begin_stop(door closed) noexcept {
  bool nobody_left = false;
  {
    const std::lock_guard lock(idle_lock_);
    // submissions/reopen. Between its look and here the door may have been opened for the services.
    if (closed == door::of_the_pool && runtime_ends_.load(std::memory_order_seq_cst)) return;
    if (std::exchange(stopping_, true)) return;
    nobody_left = present_ == 0;
    // Like any other that is woken: they find nothing, and take themselves off in park().
    state_.fetch_add(idle_stack_.size() * (one_searching - one_room), std::memory_order_seq_cst);
    for (worker* const each : idle_stack_) {
      each->signal.store(worker::notified, std::memory_order_release);
      platform::wake_one(each->signal);
    }
    idle_stack_.clear();  // its room stays, for those that come back (submissions/reopen)
  }
  if (nobody_left) terminate();
}

bool worker_pool::impl::has_to_stay(worker& self) noexcept {
  // Whoever leaves does not look again (parking/look); what came meanwhile is the last one's.
  // Relaxed: written under the lock.
  if (threads_.load(std::memory_order_relaxed) == 1 && anything_queued()) {
    self.signal.store(worker::running, std::memory_order_relaxed);
    return true;
  }
  threads_.fetch_sub(1, std::memory_order_relaxed);
  std::uint64_t change = one_room;  // for whoever comes back (submissions/reopen)
  if (brought_ != 0) {
    // A thread above the core takes its room along.
    --brought_;
    target_.fetch_sub(1, std::memory_order_relaxed);
    change = 0;
  }
  if (self.searching) change -= one_searching;
  state_.fetch_add(change, std::memory_order_seq_cst);
  return false;
}

void worker_pool::impl::reopen() noexcept {
  if (loop_ != nullptr) return;
  {
    const std::lock_guard lock(idle_lock_);
    if (!std::exchange(stopping_, false)) return;
  }
  // What was posted while the door was closed woke nobody.
  if (anything_queued()) wake_one();
}

void worker_pool::impl::terminate() noexcept {
  // submissions/end. Once: whoever comes here was the last worker, or has found none when it closed
  // the door.
  if (!life_.advance(pool_state::tidying)) return;
  const std::shared_ptr<const pool_options> last =
      settings();  // changes/handlers: it may be replaced while it runs
  if (last->on_terminated) {
    // Whatever thread this is: nobody else goes on to "terminated" while the hook waits for that.
    detail::thread_context& context = detail::this_thread();
    executor* const before = std::exchange(context.current_executor, &pool_);
    try {
      last->on_terminated();
    } catch (...) {
      owner_.implementation().suppressed(std::current_exception());
    }
    context.current_executor = before;
  }
  life_.advance(pool_state::terminated);
  if (loop_ != nullptr) loop_->notify();
}

bool worker_pool::impl::await_termination(std::chrono::steady_clock::duration timeout) {
  detail::refuse_blocking("worker_pool::await_termination");
  detail::refuse_if_forked(owner_, "worker_pool::await_termination");
  const auto now = owner_.now();
  const auto room = std::chrono::steady_clock::time_point::max() - now;
  const std::int64_t deadline_ns =
      timeout > room ? platform::no_deadline : (now + timeout).time_since_epoch().count();
  if (loop_ == nullptr) return life_.wait_for_end(deadline_ns);
  const detail::driven_loop::condition ended(
      [](const void* self) noexcept {
        return static_cast<const impl*>(self)->state() == pool_state::terminated;
      },
      this);
  return loop_->run_until(ended, deadline_ns) == detail::driven_loop::ending::done;
}

}  // namespace tandem::inline v0
