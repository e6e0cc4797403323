// pool_options.hpp: how many threads a worker pool has, and what makes them more or less.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include <tandem/adaptive_options.hpp>
#include <tandem/config.hpp>
#include <tandem/cpu_count.hpp>
#include <tandem/starvation_report.hpp>
#include <tandem/submission_options.hpp>
#include <tandem/task_hooks.hpp>
#include <tandem/thread_options.hpp>

namespace tandem::inline v0 {

/// When a pool adds threads; min_threads are its core.
enum class growth_order : std::uint8_t {
  demand,  ///< idle workers first, then threads up to the goal, which the controller moves
  queue_first,  ///< up to min_threads one for each submission, then the queue; above that when it is full
  threads_first,  ///< idle workers first, then threads up to max_threads, then the queue
};

/// The name of the enumerator.
TANDEM_API const char* to_string(growth_order order) noexcept;

/// How a worker pool is set up. Order of precedence: a member set in code, the environment
/// variable, the default.
///
///     tandem::runtime_options options;   // is one
///     options.min_threads = 2;
///     options.max_threads = 64;
///     options.keep_alive = std::chrono::seconds(5);
class TANDEM_API pool_options {
 public:
  using duration = std::chrono::steady_clock::duration;
  /// No pool may have more threads.
  static constexpr unsigned most_possible = 1024;

  /// Reads the TANDEM_* variables. @throws std::invalid_argument naming a variable it cannot read
  pool_options();

  /// Workers that are started as work comes, and stay. TANDEM_MIN_THREADS (at least 1); default:
  /// usable CPUs (usable_cpus()), at least 2 where no quota and no TANDEM_CPUS says less. 0 in code: no threads; the owner runs the tasks by poll(),
  /// run_until_idle(), run_for() or by waiting for one of them.
  unsigned min_threads;
  /// Whether min_threads, if it is the default, follows the usable CPUs of an adaptive pool when the
  /// affinity mask or the quota of the control group changes: within 10 s, while anything runs.
  bool follow_cpus = true;
  /// Never more, whatever happens. TANDEM_MAX_THREADS; default 1024. If it is not above min_threads
  /// the pool is a fixed one.
  unsigned max_threads;
  /// Whether and how the number between the two is found. TANDEM_ADAPTIVE (on or off); default on.
  adaptive_options adaptive;
  /// Above min_threads a worker that was idle for so long ends. Default 20 s.
  duration keep_alive = std::chrono::seconds(20);
  /// When threads are added. Only under `demand` does the controller run; the two others have their
  /// threads by their own rules up to max_threads, whatever adaptive.enabled says.
  growth_order growth = growth_order::demand;
  /// Whether keep_alive goes for the last min_threads, too.
  bool allow_core_timeout = false;
  /// The queue of worker_pool::submit(), and what becomes of one too many.
  submission_options submissions;
  /// Called once when the pool has terminated, on the thread that ends last. What it throws goes to
  /// runtime_options::on_suppressed_exception. If the user shut the pool down, the end of the
  /// runtime may start threads once more, for jobs that services post then.
  std::function<void()> on_terminated;
  /// Prefix of thread names: workers are NAME-0, NAME-1, ..., threads of blocking() NAME-block-0,
  /// completion threads NAME-io-0. TANDEM_NAME; default "tandem".
  std::string name;
  /// Who makes the workers' threads, their hooks and their CPUs.
  thread_options threads;
  /// Work waits, and for so long nobody has taken any but threads that were added, one item each:
  /// that is reported. Where a controller decides (`adaptive`, growth on demand): no other pool
  /// reports anything. Default 2 s; 0: never.
  duration starvation_threshold = std::chrono::seconds(2);
  /// Gets the report, at most once in five thresholds, on a thread that drives timers: it must not
  /// block. What it throws goes to on_suppressed_exception.
  std::function<void(const starvation_report&)> on_starvation;
  /// Whether the report is also written to standard error: a line, and one for each worker.
  bool log_starvation = true;

  /// Functions that hear of tasks and their segments.
  task_hooks hooks;
  /// One task in so many, chosen by a hash of its id, is timed for the histograms of
  /// runtime::metrics(): queue wait and run time of its segments. TANDEM_TIMED_TASKS_ONE_IN (at
  /// least 1); default 0: none is.
  std::uint32_t timed_tasks_one_in;
  /// Whether runtime::metrics() has counters for each name of tasks: what has used the time, waits
  /// often, or stalls (task_counts.hpp). TANDEM_COUNT_TASKS_BY_NAME; default false. Costs what
  /// `timed_tasks_one_in = 1` costs, and some 20 ns a segment more.
  bool count_tasks_by_name;

  /// The most threads that such a pool can have.
  unsigned most_threads() const noexcept;
  /// Whether a controller moves their number.
  bool is_adaptive() const noexcept;
  /// @throws  std::invalid_argument naming the option and what it may be
  void validate() const;

  // Implementation
  /// Whether min_threads is what the machine says, and is to stay so.
  bool follows_machine() const noexcept;
  /// sizing/follow
  /// It stays adaptive, and so goes on following.
  void follow_machine(unsigned cpus) noexcept;

 private:
  unsigned by_machine_ = 0;  // the default of min_threads; 0: it was set
};

}  // namespace tandem::inline v0
