// executor.hpp: something that runs jobs; the home of a task is one.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <tandem/config.hpp>
#include <tandem/job.hpp>

namespace tandem::inline v0 {

class runtime;
namespace detail {
class foreign_wait;
}

/// Why a job is posted; an executor with several lanes picks one by it.
enum class post_kind : unsigned char {
  resume,  ///< a suspended task can go on: soon, on a warm cache
  spawn,   ///< new work: behind what is there
  yield,   ///< gave way to others: behind everything
};

/// Runs jobs. Worker pools, completion threads and strands are executors; identity is the address.
/// One of your own runs them from a loop of its own, never from inside a task.
///
///     tandem::task<int> query(tandem::executor& database) {  // a strand, a pool, a thread, ...
///       co_await tandem::resume_on(database);
///       co_return read_row();
///     }
///
/// @thread_safety  all members from any thread
class TANDEM_API executor {
 public:
  executor() noexcept = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor();

  /// Queues one job. Never runs it inside the call, so it may be called under locks.
  ///
  /// @cost  one queue operation, at most one wake
  virtual void post(job* item, post_kind kind = post_kind::resume) noexcept = 0;  // NOLINT

  /// Queues a chain of jobs with at most one wake.
  virtual void post_batch(job_list items, post_kind kind = post_kind::resume) noexcept;  // NOLINT

  /// @returns  whether the calling thread runs jobs of this executor right now
  virtual bool is_current() const noexcept = 0;

  /// The runtime that it belongs to, which outlives it.
  virtual runtime* owner() const noexcept = 0;

  /// For people: reports and messages name it so. Lives as long as the executor.
  virtual std::string_view name() const noexcept = 0;

  /// Whether it runs one job at a time: a strand, a single thread.
  bool is_serial() const noexcept { return serial_; }
  /// Whether begin_task() and end_task() are called for each task that is spawned here: executors
  /// that live as long as their tasks, or can be closed, have to know of them.
  bool counts_tasks() const noexcept { return counts_tasks_; }
  /// A task is to be spawned here, or on a strand or a scheduler over it, which counts it out again
  /// at once.
  /// @returns  false: it is refused (spawn throws executor_closed)
  virtual bool begin_task() noexcept;
  /// It has ended, or was never started. May be the executor's end.
  virtual void end_task() noexcept;

 protected:
  struct counting_tasks {};
  explicit executor(counting_tasks /*yes*/, bool over_foreign_loop = false) noexcept
      : counts_tasks_(true), over_foreign_loop_(over_foreign_loop) {}
  /// For constructors.
  void set_serial() noexcept { serial_ = true; }

 private:
  friend class detail::foreign_wait;
  const bool counts_tasks_ = false;
  bool serial_ = false;                   // constant once constructed
  const bool over_foreign_loop_ = false;  // it is a detail::foreign_home
};

}  // namespace tandem::inline v0
