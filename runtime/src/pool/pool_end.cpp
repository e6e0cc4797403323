// pool_end.cpp: the door is closed once nobody is alive, and the last one out ends the pool.
// SPDX-License-Identifier: MIT
#include "pool/pool_end.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include <tandem/detail/forked.hpp>
#include <tandem/errors.hpp>

#include "platform/futex.hpp"
#include "pool/worker_pool_impl.hpp"
#include "process/fork_guard.hpp"
#include "process/suppressed.hpp"

namespace tandem::inline v0::detail {

void pool_end::close(pool_state to) noexcept {
  // submissions/close. seq_cst: whoever has counted a task and still read "running" is waited for.
  pool_.life.advance(to);
  pool_.answers.close();
  pool_.submissions.close();
}

void pool_end::shutdown() noexcept {
  if (is_forked(pool_.owner)) return;
  const visit here(pool_, pool_.visiting);
  close(pool_state::shutdown);
  end_if_drained();
}

std::vector<unstarted_task> pool_end::shutdown_now() {
  refuse_if_forked(pool_.owner, "worker_pool::shutdown_now");
  const visit here(pool_, pool_.visiting);
  close(pool_state::stop);
  std::vector<unstarted_task> given_back;
  try {
    given_back.reserve(pool_.submissions.size());  // nothing enters any more
  } catch (...) {
    drop_unstarted();
    pool_.answers.stop_all_roots();
    end_if_drained();
    throw;
  }
  while (joinable_root* const each = pool_.submissions.take_unstarted()) {
    if (promise_base* const frame = each->take_unstarted()) {
      given_back.emplace_back(*frame, each->type_of_task(), each->env_block().spawned_at());
      each->end_removed(stop_reason::shutdown);
    } else {
      each->drop(stop_reason::shutdown);
    }
  }
  pool_.answers.stop_all_roots();
  end_if_drained();
  return given_back;
}

void pool_end::close_for_runtime() noexcept {
  runtime_ends_.store(true, std::memory_order_seq_cst);  // before the first end that could see it
  close(pool_state::stop);
  drop_unstarted();
}

void pool_end::drop_unstarted() noexcept {
  while (joinable_root* const each = pool_.submissions.take_unstarted()) {
    each->drop(stop_reason::shutdown);
  }
}

void pool_end::end_if_drained() noexcept {
  // The workers are needed until the runtime's services have stopped.
  if (runtime_ends_.load(std::memory_order_seq_cst)) return;
  if (pool_.life.is_running() || pool_.answers.live() != 0) return;
  begin_stop(door::of_the_pool);
}

void pool_end::begin_stop(door closed) noexcept {
  bool nobody_left = false;
  {
    const std::lock_guard lock(pool_.idle.lock());
    // submissions/stays_open. Between its look and here the door may have been opened for the
    // services.
    if (closed == door::of_the_pool && runtime_ends_.load(std::memory_order_seq_cst)) return;
    if (!pool_.threads.close_door()) return;
    nobody_left = pool_.threads.is_empty();
    // Like any other that is woken: they find nothing, and take themselves off when they park.
    pool_.word.wake_to_search(pool_.idle.count());
    pool_.idle.wake_all();
  }
  if (nobody_left) terminate();
}

void pool_end::reopen() noexcept {
  if (!pool_.threads.has_threads()) return;
  {
    const std::lock_guard lock(pool_.idle.lock());
    if (!pool_.threads.open_door()) return;
  }
  // What was posted while the door was closed woke nobody.
  if (pool_.order.anything_queued()) pool_.waking.wake_one();
}

void pool_end::stop() noexcept {
  pool_.changes.end();
  begin_stop(door::for_good);
  pool_.threads.join_all();
  pool_.visiting.wait();  // parking/visit
}

void pool_end::terminate() noexcept {
  if (!pool_.life.advance(pool_state::tidying)) return;
  // changes/handlers: it may be replaced while it runs
  const std::shared_ptr<const pool_options> last = pool_.settings_now.get();
  if (last->on_terminated) {
    // Whatever thread this is: nobody else goes on to "terminated" while the hook waits for that.
    thread_context& context = this_thread();
    executor* const before = std::exchange(context.current_executor, &pool_.pool);
    try {
      last->on_terminated();
    } catch (...) {
      suppressed(pool_.owner.options(), std::current_exception());
    }
    context.current_executor = before;
  }
  pool_.life.advance(pool_state::terminated);
  if (pool_.loop != nullptr) pool_.loop->notify();
}

bool pool_end::await_termination(std::chrono::steady_clock::duration timeout) {
  refuse_blocking("worker_pool::await_termination");
  refuse_if_forked(pool_.owner, "worker_pool::await_termination");
  const auto now = pool_.owner.now();
  const auto room = std::chrono::steady_clock::time_point::max() - now;
  const std::int64_t deadline_ns =
      timeout > room ? platform::no_deadline : (now + timeout).time_since_epoch().count();
  if (pool_.loop == nullptr) return pool_.life.wait_for_end(deadline_ns);
  const driven_loop::condition ended(
      [](const void* self) noexcept {
        return static_cast<const pool_life*>(self)->state() == pool_state::terminated;
      },
      &pool_.life);
  return pool_.loop->run_until(ended, deadline_ns) == driven_loop::ending::done;
}

}  // namespace tandem::inline v0::detail
