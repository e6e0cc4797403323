// pool_change.hpp: what worker_pool::reconfigure() is to change.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include <tandem/adaptive_options.hpp>
#include <tandem/config.hpp>
#include <tandem/pool_options.hpp>
#include <tandem/starvation_report.hpp>
#include <tandem/submission_options.hpp>
#include <tandem/thread_options.hpp>

namespace tandem::inline v0 {

/// A change of a pool that runs: the options of pool_options that are set here get these values,
/// all others stay. For life are the kind and the capacity of the queue; the name, which threads
/// and metrics bear; and, of the runtime, its hooks and its handlers of exceptions: who hears of a
/// task's begin has to hear of its end, and what is thrown reaches them on any thread, which would
/// have to take a lock, or a reference, for each call.
///
///     tandem::pool_change night;
///     night.min_threads = 1;
///     night.max_threads = 8;
///     night.keep_alive = std::chrono::seconds(2);
///     rt.workers().reconfigure(night);
class TANDEM_API pool_change {
 public:
  pool_change();

  /// More: threads start for work that waits. Less: idle ones go, at once those that were idle for
  /// keep_alive.
  std::optional<unsigned> min_threads;
  /// Threads above it leave after the item that they run. Not below min_threads.
  std::optional<unsigned> max_threads;
  std::optional<std::chrono::steady_clock::duration> keep_alive;
  std::optional<bool> allow_core_timeout;
  std::optional<growth_order> growth;
  /// On, off, or other constants: the climb begins anew, from the threads that there are.
  std::optional<adaptive_options> adaptive;
  /// Anything but `handler` drops the handler, unless on_rejected is set, too.
  std::optional<saturation_policy> when_saturated;
  std::optional<submission_options::rejection_handler> on_rejected;
  std::optional<std::chrono::steady_clock::duration> starvation_threshold;
  std::optional<std::function<void(const starvation_report&)>> on_starvation;
  std::optional<bool> log_starvation;
  /// For threads that start from now on.
  std::optional<thread_options> threads;
  /// An empty function: nobody is told. Once the old one has been called it is too late.
  std::optional<std::function<void()>> on_terminated;
  /// Of the tasks that are spawned from now on; 0: none. What has been counted stays in the
  /// histograms.
  std::optional<std::uint32_t> timed_tasks_one_in;
  /// Of the tasks that are spawned from now on. What has been counted stays.
  std::optional<bool> count_tasks_by_name;

  /// The options with this change. @throws std::invalid_argument naming an option, and what it may
  /// be
  pool_options applied_to(pool_options now) const;
  /// Whether it changes something that only pools with threads have.
  bool is_about_threads() const noexcept;
};

}  // namespace tandem::inline v0
