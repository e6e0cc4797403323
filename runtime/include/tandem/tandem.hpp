// tandem.hpp: every public header of the runtime.
// SPDX-License-Identifier: MIT
//
// For programs that would rather wait for the compiler than look for a header; libraries include
// what they use. A test checks that none is missing.
//
//     #include <tandem/tandem.hpp>
//     tandem::task<int> answer() { co_return 42; }
//     int main() { return tandem::run(answer()); }
#pragma once

#include <tandem/adaptive_options.hpp>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <tandem/blocking_options.hpp>
#include <tandem/blocking_region.hpp>
#include <tandem/callback.hpp>
#include <tandem/callback_stream.hpp>
#include <tandem/channel.hpp>
#include <tandem/clock.hpp>
#include <tandem/config.hpp>
#include <tandem/context.hpp>
#include <tandem/cpu_count.hpp>
#include <tandem/deadlock_report.hpp>
#include <tandem/dump.hpp>
#include <tandem/duration_histogram.hpp>
#include <tandem/environment.hpp>
#include <tandem/errors.hpp>
#include <tandem/event.hpp>
#include <tandem/executor.hpp>
#include <tandem/export.hpp>
#include <tandem/fair_queue.hpp>
#include <tandem/fair_scheduler.hpp>
#include <tandem/finally.hpp>
#include <tandem/for_each_concurrent.hpp>
#include <tandem/fork_each.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/from_callback.hpp>
#include <tandem/future.hpp>
#include <tandem/interval.hpp>
#include <tandem/invoke.hpp>
#include <tandem/job.hpp>
#include <tandem/latch.hpp>
#include <tandem/metric_family.hpp>
#include <tandem/mutex.hpp>
#include <tandem/parallel_for.hpp>
#include <tandem/parallel_invoke.hpp>
#include <tandem/parallel_reduce.hpp>
#include <tandem/parallel_scan.hpp>
#include <tandem/parallel_sort.hpp>
#include <tandem/pool_change.hpp>
#include <tandem/pool_decision.hpp>
#include <tandem/pool_options.hpp>
#include <tandem/pool_state.hpp>
#include <tandem/pool_view.hpp>
#include <tandem/priority.hpp>
#include <tandem/priority_scheduler.hpp>
#include <tandem/puzzle.hpp>
#include <tandem/race.hpp>
#include <tandem/rejected.hpp>
#include <tandem/result.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/retry.hpp>
#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/runtime_metrics.hpp>
#include <tandem/search.hpp>
#include <tandem/search/best_first.hpp>
#include <tandem/search/bidirectional.hpp>
#include <tandem/search/breadth_first.hpp>
#include <tandem/search/count.hpp>
#include <tandem/search/iterative_deepening.hpp>
#include <tandem/search/options.hpp>
#include <tandem/search/racing.hpp>
#include <tandem/search/result.hpp>
#include <tandem/search/sequential.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/shielded.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/sizing.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/starvation_report.hpp>
#include <tandem/stop.hpp>
#include <tandem/strand.hpp>
#include <tandem/submission_options.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task.hpp>
#include <tandem/task_counts.hpp>
#include <tandem/task_hooks.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/thread_options.hpp>
#include <tandem/timeout.hpp>
#include <tandem/timer_stats.hpp>
#include <tandem/trace_of.hpp>
#include <tandem/trace_options.hpp>
#include <tandem/unstarted_task.hpp>
#include <tandem/version.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/wait_group.hpp>
#include <tandem/when_all.hpp>
#include <tandem/when_any.hpp>
#include <tandem/with_resource.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/worker_pool.hpp>
#include <tandem/yield.hpp>
