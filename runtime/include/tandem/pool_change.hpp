// pool_change.hpp: what worker_pool::reconfigure() is to change.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include <tandem/adaptive_options.hpp>
#include <tandem/config.hpp>
#include <tandem/pool_options.hpp>
#include <tandem/starvation_report.hpp>
#include <tandem/submission_options.hpp>
#include <tandem/thread_options.hpp>

namespace tandem::inline v0 {

/// A change of a pool that runs: the options of pool_options that are set here get these values, all others stay.
/// There is nothing for the kind and the capacity of the queue, nor for the name: they are for life.
///
///     tandem::pool_change night;
///     night.min_threads = 1;
///     night.max_threads = 8;
///     night.keep_alive = std::chrono::seconds(2);
///     rt.workers().reconfigure(night);
class TANDEM_API pool_change {
 public:
  pool_change();

  /// More: threads start for work that waits. Less: idle ones go, at once those that were idle for keep_alive.
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

  /// The options with this change. @throws std::invalid_argument naming an option, and what it may be
  pool_options applied_to(pool_options now) const;
  /// Whether it changes more than what becomes of a submission: something that only pools with threads have.
  bool is_about_threads() const noexcept;
};

}  // namespace tandem::inline v0
