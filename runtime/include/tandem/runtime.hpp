// runtime.hpp: owns the worker pool, the timers and the services, and ends them in order.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tandem/blocking_options.hpp>
#include <tandem/deadlock_report.hpp>
#include <tandem/detail/platform/pollable_handle.hpp>
#include <tandem/dump.hpp>
#include <tandem/pool_change.hpp>
#include <tandem/pool_options.hpp>
#include <tandem/pool_view.hpp>
#include <tandem/runtime_metrics.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/trace_options.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/worker_pool.hpp>

namespace tandem::inline v0 {

/// How a runtime is set up: its worker pool, and what else it has. Order of precedence: a member
/// set in code, the environment variable, the default.
class TANDEM_API runtime_options : public pool_options {
 public:
  using exception_handler = std::function<void(std::exception_ptr)>;

  /// Reads the TANDEM_* variables. @throws std::invalid_argument naming a variable it cannot read
  runtime_options();

  /// A clock that jumps, and a schedule chosen by a seed: for tests. Then min_threads says nothing.
  std::optional<virtual_time> clock;
  /// Threads for calls that block (blocking.hpp).
  blocking_options blocking;
  /// A detached task's failure that nobody took. Default: report it, then terminate with it active.
  exception_handler on_unhandled_exception;
  /// A failure that an earlier one of the same scope or join has overtaken, or that a hook has
  /// thrown. Default: log to stderr. Called on any thread, inside the task, join or hook that
  /// failed: it must not throw, nor wait for anything of the runtime. What it throws all the same
  /// ends there: both failures are written to stderr, and whatever was going on goes on.
  exception_handler on_suppressed_exception;

  /// Whether SIGQUIT (Ctrl+\; on Windows Ctrl+Break) writes dump() and diagnose() to standard error,
  /// by a thread of its own, and the trace into its file if a recorder is on (trace_to); the program
  /// goes on. TANDEM_DUMP_ON_SIGNAL (on or off), or a path in TANDEM_DUMP; default off: then the
  /// signal ends a program.
  bool dump_on_signal;
  /// Where such a dump is appended instead; if it ends with ".json" one object a line for each
  /// signal. TANDEM_DUMP; default "": standard error.
  std::string dump_path;
  /// So long all workers have had nothing to do while tasks live and nothing is out that could
  /// wake one: that is looked into, and reported once. Not with a virtual clock, which says so at
  /// once, nor without threads. Default 1 s; 0: never.
  std::chrono::milliseconds deadlock_after{1000};
  /// Gets the report, on a thread of its own. It must not end the runtime. What it throws goes to
  /// on_suppressed_exception.
  std::function<void(const deadlock_report&)> on_deadlock;
  /// Whether the report is also written to standard error.
  bool log_deadlock = true;
  /// So often the tasks are looked at, for circles of locks and joins while others run, and for the
  /// ages in dumps: a walk over all tasks each time. Default 0: only when a dump is asked for.
  std::chrono::milliseconds look_every{0};
};

/// Something that lives as long as a runtime and ends with it (a completion pool, for one).
class TANDEM_API service {
 public:
  service() noexcept = default;
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  virtual ~service();

  virtual std::string_view service_name() const noexcept = 0;
  /// Called once, after all tasks have ended: finish what is outstanding. Jobs that it posts to the
  /// workers run, also if these have gone before since the pool was shut down: threads come back
  /// for them.
  ///
  /// @thread_safety  on the thread that ends the runtime; it may wait for other threads
  virtual void stop() noexcept = 0;
  /// Adds what it counts to runtime::metrics(), without the label `runtime`. Any thread, also after
  /// stop(). Default: nothing.
  virtual void append_metrics(std::vector<metric_family>& out) const;
  /// Whether it waits for something that may make a task ready: an operation that is under way.
  /// Where all tasks wait and no service does, that is a standstill. Any thread. Default: no.
  virtual bool awaits_anything() const noexcept;
  /// Calls `add` with what it has decided about its threads lately, for runtime::write_trace(): the
  /// moment by the steady clock, and why. Any thread, also after stop(). Default: nothing.
  virtual void for_each_decision(const std::function<void(std::chrono::steady_clock::time_point,
                                                          const pool_decision&)>& add) const;
};

/// A worker pool, timers and services.
///
///     tandem::runtime rt;
///     int answer = rt.spawn(compute()).wait();
///
/// fork(): a runtime belongs to the process that made it. In a child that fork() made meanwhile
/// every use of it, its pool and the executors over it throws forked_runtime (a post, which cannot
/// throw, terminates with one), but for what only reads a value: options(), now(), live_tasks(),
/// find_service(), workers().state() and the like. Destructors leave everything to the parent; a
/// new runtime works. Where a *task*, or a call of blocking(), forked, the child must not return
/// into it: it calls exec or _exit, or uses a runtime of its own.
///
/// @thread_safety  all members from any thread, unless they say otherwise; destroyed by one thread
///                 that is none of its own, when nobody else uses it any more
class TANDEM_API runtime {
 public:
  explicit runtime(runtime_options options = {});
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  /// shutdown()
  ~runtime();

  /// @thread_safety  any thread
  worker_pool& workers() noexcept;
  /// As it was made: worker_pool::options() knows what has been changed since.
  ///
  /// @thread_safety  any thread; the functions in it may be running
  const runtime_options& options() const noexcept;

  /// Starts a task on the worker pool.
  ///
  /// @throws         runtime_stopped once shutdown(), or the pool's, has begun; forked_runtime;
  ///                 std::bad_alloc
  /// @thread_safety  any thread, tasks too
  template <class T>
  join_handle<T> spawn(task<T> body, std::source_location where = std::source_location::current()) {
    return detail::spawn_from_outside(*this, detail::workers_of(*this), std::move(body), where);
  }
  /// As above, with another home. @throws also executor_closed
  template <class T>
  join_handle<T> spawn(executor& target, task<T> body,
                       std::source_location where = std::source_location::current()) {
    return detail::spawn_from_outside(*this, target, std::move(body), where);
  }

  /// Waits until no spawned task lives. Blocks: not for threads of the runtime.
  ///
  /// @param timeout  by the clock of the runtime
  /// @returns        false if the time ran out, or if nothing can ever happen any more
  /// @throws         would_deadlock on a thread of a runtime, and in a blocking() call of this one;
  ///                 forked_runtime
  /// @thread_safety  any other thread, also several at once
  bool drain(std::chrono::steady_clock::duration timeout);
  /// Refuses new work from outside, stops all tasks (reason shutdown), waits for their end, then
  /// ends services and threads. Idempotent. Blocks as long as a task ignores its stop.
  ///
  /// @throws         would_deadlock on a thread of a runtime, and in a blocking() call of this one;
  ///                 forked_runtime
  /// @thread_safety  any other thread, also several at once: each returns after the end
  void shutdown();

  /// Without threads (min_threads = 0, or a virtual clock): runs what is ready, and what becomes
  /// so, until nothing is. Does not wait, and no virtual time passes.
  ///
  /// @returns         how many items ran
  /// @throws          std::logic_error if the runtime has threads, or another thread drives it just
  ///                  now; would_deadlock inside a task; forked_runtime
  /// @thread_safety   one thread at a time; so are the other ways to drive
  std::size_t run_until_idle();
  /// As above, but no more than so many items: for a foreign event loop with work of its own.
  ///
  ///     runtime_options options;
  ///     options.min_threads = 0;
  ///     runtime rt(options);
  ///     loop.watch(rt.native_handle(), [&] { rt.poll(); });
  ///
  /// @thread_safety   as run_until_idle()
  std::size_t poll(std::size_t most_items = 256);
  /// Runs tasks until so much time has passed by the clock of the runtime: real or virtual.
  ///
  /// @throws          as run_until_idle(), but it waits while another thread drives
  /// @thread_safety   any thread that is none of a runtime's
  void run_for(std::chrono::steady_clock::duration span);
  /// A descriptor for poll, epoll or select (on Windows a handle for MsgWaitForMultipleObjects):
  /// readable while poll() has something to do, deadlines included. It stays the runtime's. Call poll() once before the first wait.
  ///
  /// @throws          std::logic_error if the runtime has threads or a virtual clock, or another
  ///                  thread drives it just now; would_deadlock inside a task; forked_runtime;
  ///                  std::system_error
  /// @thread_safety   as run_until_idle()
  pollable_handle native_handle();
  /// The time by the clock of the runtime.
  ///
  /// @thread_safety   any thread
  std::chrono::steady_clock::time_point now() const noexcept;

  /// What it counts, at about one moment. metrics_text() makes a page of it for a monitoring
  /// system.
  ///
  /// @throws         forked_runtime; std::bad_alloc
  /// @thread_safety  any thread, also after shutdown()
  /// @cost           a look at each worker; nothing for those that work
  runtime_metrics metrics() const;

  /// What every task waits for, what it was spawned by, and which runs where.
  ///
  ///     std::cerr << rt.dump();
  ///
  /// Also while all workers are stuck: it needs none. Nobody is stopped, or resumed early, by it;
  /// while one wait is read whoever ends it leaves the resume to the reader. It is no moment: tasks
  /// go on between two of them being read.
  ///
  /// @returns        text, or JSON
  /// @throws         forked_runtime; std::bad_alloc
  /// @thread_safety  any thread, tasks too; one at a time, others wait
  /// @cost           some microseconds a task; names of functions are read from files at the first
  ///                 time
  std::string dump(const dump_options& options = {}) const;
  /// As above, written to `out` and flushed.
  void dump(std::ostream& out, const dump_options& options = {}) const;
  /// What is worth a look, in sentences: tasks that have kept a worker for long, circles of locks,
  /// locks and channels that many wait for, stops that were not followed, pools that are full.
  /// Empty: nothing was found.
  ///
  ///     for (const std::string& each : rt.diagnose()) std::puts(each.c_str());
  ///
  /// It looks twice, so as to tell what lasts from what happens to be.
  ///
  /// @param during   how long it waits between the two looks, blocking the caller
  /// @throws         forked_runtime; would_deadlock on a thread of a runtime; std::bad_alloc
  /// @thread_safety  any other thread
  /// @cost           two dumps
  std::vector<std::string> diagnose(
      std::chrono::milliseconds during = std::chrono::milliseconds(200)) const;
  /// Turns the flight recorder on: from now on each thread keeps its newest events (which task it
  /// runs, who woke it, when workers park and steal), and write_trace() makes a file of them, which
  /// Perfetto (https://ui.perfetto.dev) and chrome://tracing show. A second call names another file.
  ///
  ///     rt.trace_to("run.json");
  ///     serve(rt);
  ///     rt.write_trace();  // the last seconds
  ///
  /// @param path     of the file; it may be there, and is replaced when the new one is whole.
  ///                 Empty: none, for write_trace(std::ostream&) alone
  /// @throws         std::invalid_argument; std::bad_alloc; forked_runtime
  /// @thread_safety  any thread
  /// @cost           off: nothing. On: two words an event, and a thread's ring when it has the first;
  ///                 a wait of a task three events, some 20 instructions each; a fork nothing, unless
  ///                 its child is stolen
  void trace_to(std::string path, trace_options options = {});
  /// Off. What was recorded stays, and can still be written.
  ///
  /// @thread_safety  any thread
  void stop_trace() noexcept;
  /// What has happened lately, into the file of trace_to(). It needs no worker: it works while all
  /// of them are stuck.
  ///
  /// @throws         std::system_error that names the file; std::logic_error if trace_to() was not
  ///                 called, or without a file; std::bad_alloc; forked_runtime
  /// @thread_safety  any thread, tasks too, but it takes its time: some milliseconds for each thread
  ///                 that is recorded. Those that are recorded go on meanwhile
  void write_trace();
  /// As above, into a stream. @throws also what the stream throws
  void write_trace(std::ostream& out);

  /// Spawned tasks that have not ended.
  ///
  /// @thread_safety  any thread; a number about now
  std::size_t live_tasks() const noexcept;

  /// The service of type S; null if there is none.
  ///
  /// @thread_safety  any thread
  template <std::derived_from<service> S>
  S* find_service() const noexcept {
    return static_cast<S*>(find_service(&service_key<S>));
  }
  /// Makes the service on first use; later calls return that one and ignore the arguments.
  ///
  /// @throws         what its constructor throws; std::length_error beyond 32 services;
  ///                 forked_runtime
  /// @thread_safety  any thread: one of them makes it, the others wait; a constructor may ask for
  ///                 other services
  template <std::derived_from<service> S, class... Arguments>
  S& use_service(Arguments&&... arguments) {
    detail::refuse_if_forked(*this, "runtime::use_service");
    if (S* there = find_service<S>()) return *there;
    std::lock_guard lock(service_mutex());
    if (S* there = find_service<S>()) return *there;
    auto made = std::make_unique<S>(*this, std::forward<Arguments>(arguments)...);
    S& result = *made;
    add_service(&service_key<S>, std::move(made));
    return result;
  }

  // Implementation
  class impl;
  impl& implementation() noexcept { return *impl_; }

 private:
  template <class S>
  static constexpr char service_key = 0;

  service* find_service(const void* key) const noexcept;
  std::recursive_mutex& service_mutex();
  void add_service(const void* key, std::unique_ptr<service> made);

  std::unique_ptr<impl> impl_;
};

}  // namespace tandem::inline v0
