// worker_pool.hpp: the work-stealing pool for computation.
// SPDX-License-Identifier: MIT
//
// Each worker has two lanes: a LIFO deque for forked children and a FIFO with one next slot
// for everything else; an injection lane takes what comes from outside. Idle workers steal from the
// old end, then park on a LIFO stack. Protocols: runtime/src/crew, worker and pool, README.md.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tandem/detail/submit_waiter.hpp>
#include <tandem/executor.hpp>
#include <tandem/pool_decision.hpp>
#include <tandem/pool_options.hpp>
#include <tandem/pool_state.hpp>
#include <tandem/spawn.hpp>
#include <tandem/unstarted_task.hpp>

namespace tandem::inline v0 {

namespace detail {
class driven_loop;
class pool_owner;
}  // namespace detail
class pool_change;
class pool_view;

/// Counts of a worker pool at about one moment; each is exact, together they need not fit.
class worker_pool_stats {
 public:
  worker_pool_stats() noexcept = default;

  unsigned min_threads = 0;  ///< 0, as all numbers of threads, if the owner runs the tasks
  unsigned max_threads = 0;
  unsigned threads = 0;                ///< started and alive
  unsigned goal = 0;                   ///< how many the controller lets run at once
  unsigned processing = 0;             ///< running an item, blocked ones included
  unsigned idle = 0;                   ///< parked
  unsigned searching = 0;              ///< looking for work
  unsigned blocked = 0;                ///< inside a blocking_region
  std::size_t queued = 0;              ///< in all queues and lanes, submissions included
  std::size_t injection = 0;           ///< of these, what came from outside
  std::size_t lanes = 0;               ///< of these, what lies with workers
  std::size_t submissions = 0;         ///< submitted, and waiting for a worker
  std::size_t waiting_submitters = 0;  ///< tasks that wait in submit_when_free()
  std::uint64_t rejections = 0;        ///< submissions that found the pool full or shut down
  std::uint64_t items = 0;             ///< jobs run, forked children that nobody stole not counted
  std::uint64_t tasks = 0;             ///< spawned tasks that ended on a worker
  std::uint64_t steals = 0;            ///< items taken from other workers
  std::uint64_t parks = 0;
  std::uint64_t wakes = 0;
  std::uint64_t injected = 0;  ///< items that came from outside
  /// Threads started, by decision_reason; more than decisions() remembers.
  std::array<std::uint64_t, decision_reason_count> injections{};
  std::uint64_t retirements = 0;  ///< threads that ended after keep_alive
};

/// Worker threads with work stealing. Part of a runtime; not made on its own.
///
/// In a child of fork() that was made meanwhile, name, owner, size, state, is_current and view only
/// read what does not change there, and work; shutdown() and prestarting do nothing; a post
/// terminates; all others throw forked_runtime.
///
/// @thread_safety  all members from any thread, until the runtime's end; tasks and handlers of the
///                 pool may call all but await_termination()
class TANDEM_API worker_pool final : public executor {
 public:
  /// What is posted once the pool has terminated runs at the end of the runtime.
  ///
  /// @thread_safety  any thread
  void post(job* item, post_kind kind = post_kind::resume) noexcept override;             // NOLINT
  void post_batch(job_list items, post_kind kind = post_kind::resume) noexcept override;  // NOLINT
  bool is_current() const noexcept override;
  runtime* owner() const noexcept override;
  std::string_view name() const noexcept override;

  /// @throws         forked_runtime
  /// @thread_safety  any thread; numbers move while they are read
  /// @cost           a look at each worker, two short locks; nothing for those that work
  worker_pool_stats stats() const;
  /// Its core: min_threads of the options; without threads 1, by a virtual clock as many as it
  /// says.
  ///
  /// @thread_safety  any thread; reconfigure() changes it
  unsigned size() const noexcept;
  /// What was done lately to the number of threads, and why, oldest first: up to 200 decisions.
  /// With and without a controller.
  ///
  /// @throws         forked_runtime; std::bad_alloc
  /// @thread_safety  any thread
  std::vector<pool_decision> decisions() const;
  /// A line per worker: state, lanes, counters; then how many tasks live, and the lines that have
  /// spawned most of them. For people who look at a hang, or wait for the pool's end.
  ///
  /// @throws         forked_runtime; std::bad_alloc
  /// @thread_safety  any thread, also while nothing moves any more: it waits for no worker
  std::string describe() const;

  /// Hands `body` to the pool if it takes it (pool_options::growth, ::submissions); its home is the
  /// pool.
  ///
  ///     tandem::join_handle<page> handle = rt.workers().submit(fetch(url));
  ///
  /// What is not taken meets pool_options::submissions.when_saturated. With caller_runs it runs on
  /// the calling thread up to its first wait, its forks elsewhere; that is refused as by abort
  /// where the thread is no place for it: on a thread of another executor or one that drives
  /// timers, eight calls deep, and from outside a runtime without threads; rejected::obstacle()
  /// says which.
  ///
  /// @param priority  the higher first; for priority queues
  /// @throws          rejected; what the rejection handler throws; forked_runtime; std::bad_alloc
  /// @thread_safety   any thread; in a task of the pool it goes to the same queue as from outside
  /// @cost            as spawn from outside; one short lock more where the queue is bounded
  template <class T>
  join_handle<T> submit(task<T> body, int priority = 0,
                        std::source_location where = std::source_location::current()) {
    TANDEM_ASSERT(body, "worker_pool::submit was given an empty task");
    auto* const block = new detail::spawned<T>(*owner(), *this, std::move(body), where, true);
    admit(*block, priority);
    return join_handle<T>(*block);
  }

  /// As submit(), but waits while the pool is full: first come, first served, and nobody overtakes
  /// who waits (but for discard_oldest, which see).
  ///
  ///     while (true) {
  ///       auto done = co_await pool.submit_when_free(handle(co_await source.receive()));
  ///       done.detach();
  ///     }
  ///
  /// @returns        the task's join_handle; it has not necessarily started
  /// @throws         rejected once the pool refuses all; operation_cancelled, std::bad_alloc: then
  ///                 the task has not been taken, and is gone
  /// @cancellation   ends the wait; it may lose the race, and the task is taken
  /// @thread_safety  any task, also of another runtime
  /// @resumes_on     the caller's home
  /// @cost           as submit(); no allocation but the task's block
  template <class T>
  submit_awaiter<T> submit_when_free(
      task<T> body, int priority = 0,
      std::source_location where = std::source_location::current()) noexcept {
    return submit_awaiter<T>(*this, std::move(body), priority, where);
  }

  /// Starts a thread before there is work for it, unless there are min_threads.
  ///
  /// @returns        whether it has; no in a pool that is shut down, without threads, or a parent's
  /// @thread_safety  any thread
  bool prestart_core_thread() noexcept;
  /// As above, until there are min_threads. @returns how many were started
  unsigned prestart_all_core_threads() noexcept;

  /// Changes a pool that runs; nothing that it has taken is lost, and nobody waits for it. What is
  /// refused changes nothing. changes.
  ///
  /// @throws         std::invalid_argument naming the option and what it may be; std::logic_error
  ///                 for what a runtime without threads has nothing of (threads, their limits,
  ///                 starvation); forked_runtime; std::bad_alloc
  /// @thread_safety  any thread, tasks and handlers of the pool too; one change after the other
  /// @cost           each parked worker is woken for a look at its watch. A fixed pool gets a
  ///                 control by its first change of threads, and from then on its workers look at
  ///                 one word more for each item
  void reconfigure(const pool_change& change);
  /// What it was made with, and what has been changed since.
  ///
  /// @throws         forked_runtime; std::bad_alloc, or what copying one of its functions throws
  /// @thread_safety  any thread. Handlers, hooks and the factory are copied, perhaps while other
  ///                 threads call them: what they capture has to bear that, and state of their own
  ///                 belongs behind a pointer
  pool_options options() const;
  /// The pool for code that may use it, and no more.
  ///
  /// @thread_safety  any thread
  pool_view view() noexcept;

  /// @thread_safety  any thread; it only goes forward
  pool_state state() const noexcept;
  /// Refuses submissions and spawns from outside from now on, and lets go of those that wait for a
  /// place. What was taken, and all tasks of the runtime, run to their end, however long they wait
  /// for I/O, for a time or for blocking(), which go on as before; then the workers go, and
  /// pool_options::on_terminated is called. Does not wait, so tasks may call it. The end of the
  /// runtime asks whoever still waits then to stop.
  ///
  /// @thread_safety  any thread; in a child of fork() it does nothing
  void shutdown() noexcept;
  /// As shutdown(), and asks all tasks to stop (stop_reason::shutdown).
  ///
  /// @returns        what was submitted and has not started; its handles have ended as cancelled
  /// @throws         forked_runtime, std::bad_alloc; the latter after the shutdown, and what was
  ///                 submitted is gone
  /// @thread_safety  any thread; each unstarted task is given to one caller
  std::vector<unstarted_task> shutdown_now();
  /// Blocks until the pool has terminated: no task lives, whether queued, running or suspended.
  ///
  /// @param timeout  by the clock of the runtime
  /// @returns        false if the time ran out: describe() says then which tasks are missing
  /// @throws         would_deadlock on a thread of a runtime; forked_runtime
  /// @thread_safety  any other thread, also several at once
  bool await_termination(std::chrono::steady_clock::duration timeout);

  // Implementation
  class impl;
  worker_pool(runtime& owner, detail::pool_owner& answers, const pool_options& options,
              detail::driven_loop* loop);
  ~worker_pool() override;
  /// Lets the workers finish what is queued, then joins them.
  void stop() noexcept;
  impl& implementation() noexcept { return *impl_; }

 private:
  /// Takes the block, or does with it what the policy says. @throws rejected, ...: then the block
  /// is gone
  void admit(detail::joinable_root& block, int priority);

  std::unique_ptr<impl> impl_;
};

/// The workers of the current runtime, an executor like any other.
///
///     co_await tandem::resume_on(tandem::workers());
///
/// @throws         std::logic_error outside any task (use runtime::workers there); forked_runtime
/// @thread_safety  from any task, wherever it runs
TANDEM_API worker_pool& workers();

/// Index of the calling worker within its pool; -1 on any other thread.
TANDEM_API int current_worker_index() noexcept;

}  // namespace tandem::inline v0
