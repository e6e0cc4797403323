// single_thread_executor.hpp: a thread of its own, and tasks that are confined to it.
// SPDX-License-Identifier: MIT
//
// For libraries that want to be called from one thread (a GUI, a database connection, a licence
// dongle, whatever keeps thread-locals): a task at home here runs on this thread and nowhere else,
// one segment at a time, oldest first. Confinement is a strand's promise and more: the thread never
// changes. And it is less: a call that blocks keeps everything that lives here. Protocol
// own_thread: runtime/src/executors/README.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <tandem/executor.hpp>

namespace tandem::inline v0 {

/// Runs jobs on one thread.
///
///     tandem::single_thread_executor database(runtime, "database");
///     Row row = tandem::sync_wait(database, query(connection));
///     ...
///     co_await tandem::resume_on(database);            // inside a task
///
/// Its end: from close() on, spawning here throws executor_closed. Tasks that were spawned here
/// before run to their end, and join() (or the destructor) waits for them, and for strands over it;
/// whoever came by resume_on() has to have left or ended by then: a job that is posted after the
/// end could run nowhere, so that aborts, and says so.
///
/// @thread_safety  all members from any thread, join() also from several at once; the destructor
///                 from one that is not its own, when nobody else uses the executor any more
class TANDEM_API single_thread_executor final : public executor {
 public:
  /// @param owner  outlives it
  /// @param name   of executor and thread; the kernel keeps 15 characters
  /// @throws       std::system_error if no thread can be started; forked_runtime
  explicit single_thread_executor(runtime& owner, std::string name = "single");
  /// join()
  ~single_thread_executor() override;

  void post(job* item, post_kind kind = post_kind::resume) noexcept override;             // NOLINT
  void post_batch(job_list items, post_kind kind = post_kind::resume) noexcept override;  // NOLINT
  bool is_current() const noexcept override;
  runtime* owner() const noexcept override;
  std::string_view name() const noexcept override;
  bool begin_task() noexcept override;
  void end_task() noexcept override;

  /// Refuses new tasks from now on, here and on strands and schedulers over it. Does not wait.
  /// Idempotent.
  ///
  /// @thread_safety  any thread, its own too
  void close() noexcept;
  /// close(), then blocks until all tasks that were spawned here have ended, and the thread with
  /// them. A runtime without threads is run meanwhile. In a task only after all of those were
  /// awaited. Idempotent.
  ///
  /// @throws         would_deadlock on its own thread, and then it has not been closed;
  ///                 forked_runtime
  /// @thread_safety  any other thread, also several at once: each returns when the thread has ended
  void join();

  // Implementation
  class impl;

 private:
  std::unique_ptr<impl> impl_;
};

}  // namespace tandem::inline v0
