// runtime_metrics.hpp: what a runtime says about itself, at about one moment.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tandem/config.hpp>
#include <tandem/duration_histogram.hpp>
#include <tandem/metric_family.hpp>
#include <tandem/pool_decision.hpp>
#include <tandem/task_counts.hpp>
#include <tandem/timer_stats.hpp>
#include <tandem/worker_pool.hpp>

namespace tandem::inline v0 {

/// A snapshot: runtime::metrics(). Each number is exact; they are read one after the other, so
/// together they fit only while nothing runs.
///
///     std::string page_for(const tandem::runtime& rt, double age_seconds) {
///       std::vector<tandem::metric_family> all = rt.metrics().families();
///       all.emplace_back("app_oldest_order_seconds", "Age.", tandem::metric_kind::gauge, age_seconds);
///       return tandem::metrics_text(all);  // for GET /metrics
///     }
class TANDEM_API runtime_metrics {
 public:
  runtime_metrics() = default;

  std::string name;  ///< of the runtime: runtime_options::name
  /// The value of the label `runtime`: the name, with "#2", "#3", ... behind it where a runtime
  /// that lives in this process had it already. Free again when its runtime has ended.
  std::string series;
  std::chrono::steady_clock::time_point when;  ///< by its clock
  worker_pool_stats workers;
  /// What the worker pool has decided about its threads, oldest first: up to 200; the text has only
  /// the counts.
  std::vector<pool_decision> decisions;
  decision_counts decided{};  ///< how often, since the start
  pool_state state = pool_state::running;
  std::size_t live_tasks = 0;
  timer_stats timers;
  /// Of segments of the tasks that are timed: pool_options::timed_tasks_one_in. Empty, and not in
  /// the text, if none ever was, which is the default.
  bool times_tasks = false;
  duration_histogram queue_wait;
  duration_histogram run;
  /// What tasks have done, by their names: pool_options::count_tasks_by_name. Empty, and not in the
  /// text, if that is off, which is the default. Up to 257.
  std::vector<task_counts> by_name;
  /// What the services of the runtime have added: threads of blocking(), the completion pool's.
  std::vector<metric_family> services;

  /// All of it; each sample has the label `runtime`, so snapshots of several runtimes fit into one
  /// text.
  std::vector<metric_family> families() const;
};

/// In Prometheus' text format 0.0.4.
TANDEM_API std::string metrics_text(const runtime_metrics& metrics);

}  // namespace tandem::inline v0
