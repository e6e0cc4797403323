// runtime_metrics.cpp: what the numbers of a snapshot are called.
// SPDX-License-Identifier: MIT
#include <tandem/runtime_metrics.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace tandem::inline v0 {

namespace {

/// Families of one runtime.
class family_list {
 public:
  explicit family_list(std::string name) : name_(std::move(name)) {}

  void counter(const char* name, const char* help, std::uint64_t value) {
    add(name, help, metric_kind::counter, static_cast<double>(value));
  }
  void seconds(const char* name, const char* help, std::chrono::nanoseconds value) {
    add(name, help, metric_kind::counter, std::chrono::duration<double>(value).count());
  }
  void gauge(const char* name, const char* help, std::size_t value) {
    add(name, help, metric_kind::gauge, static_cast<double>(value));
  }
  void histogram(const char* name, const char* help, const duration_histogram& times) {
    made_.emplace_back(name, help, metric_kind::histogram).add(metric_histogram(times), labels());
  }
  /// Each value with a label of its own.
  metric_family& labelled(const char* name, const char* help, metric_kind kind) {
    return made_.emplace_back(name, help, kind);
  }
  std::vector<metric_label> labels() const { return {metric_label("runtime", name_)}; }
  std::vector<metric_label> labels(const char* name, const char* value) const {
    return {metric_label("runtime", name_), metric_label(name, value)};
  }
  /// Of a service, which knows nothing of the others.
  void append(metric_family family) {
    for (metric_sample& each : family.samples) {
      each.labels.insert(each.labels.begin(), metric_label("runtime", name_));
    }
    made_.push_back(std::move(family));
  }
  std::vector<metric_family> take() { return std::move(made_); }

 private:
  void add(const char* name, const char* help, metric_kind kind, double value) {
    made_.emplace_back(name, help, kind, value, labels());
  }

  const std::string name_;
  std::vector<metric_family> made_;
};

void append_threads(family_list& out, const worker_pool_stats& pool) {
  out.gauge("tandem_worker_threads", "Worker threads that are alive.", pool.threads);
  out.gauge("tandem_worker_threads_min", "Worker threads that stay.", pool.min_threads);
  out.gauge("tandem_worker_threads_max", "The most worker threads there may be.", pool.max_threads);
  out.gauge("tandem_worker_threads_goal", "Workers that may run items at once.", pool.goal);
  metric_family& states = out.labelled("tandem_worker_threads_by_state",
                                       "Worker threads that run an item (those inside a "
                                       "blocking_region are counted apart), search, or "
                                       "are parked.",
                                       metric_kind::gauge);
  const unsigned blocked = std::min(pool.blocked, pool.processing);
  states.add(pool.processing - blocked, out.labels("state", "processing"));
  states.add(blocked, out.labels("state", "blocked"));
  states.add(pool.searching, out.labels("state", "searching"));
  states.add(pool.idle, out.labels("state", "idle"));
  metric_family& injections =
      out.labelled("tandem_worker_thread_injections_total", "Worker threads started, by reason.",
                   metric_kind::counter);
  for (std::size_t i = 0; i < decision_reason_count; ++i) {
    const auto reason = static_cast<decision_reason>(i);
    injections.add(static_cast<double>(pool.injections[i]),
                   out.labels("reason", to_string(reason)));
  }
  out.counter("tandem_worker_thread_retirements_total",
              "Worker threads that ended after they had been idle for keep_alive.",
              pool.retirements);
}

void append_decisions(family_list& out, const decision_counts& counts) {
  metric_family& decided = out.labelled(
      "tandem_worker_decisions_total",
      "Decisions of the worker pool about its threads, by action and reason; those that "
      "were taken at least once.",
      metric_kind::counter);
  for (std::size_t action = 0; action < pool_action_count; ++action) {
    for (std::size_t reason = 0; reason < decision_reason_count; ++reason) {
      if (counts[action][reason] == 0) continue;
      std::vector<metric_label> labels =
          out.labels("action", to_string(static_cast<pool_action>(action)));
      labels.emplace_back("reason", to_string(static_cast<decision_reason>(reason)));
      decided.add(static_cast<double>(counts[action][reason]), std::move(labels));
    }
  }
}

void append_queues(family_list& out, const worker_pool_stats& pool) {
  metric_family& queues = out.labelled(
      "tandem_worker_queue_length", "Items that wait for a worker, by queue.", metric_kind::gauge);
  const auto add = [&](const char* name, std::size_t length) {
    queues.add(static_cast<double>(length), out.labels("queue", name));
  };
  add("injection", pool.injection);
  add("submissions", pool.submissions);
  add("lanes", pool.lanes);
  out.gauge("tandem_waiting_submitters", "Tasks that wait in submit_when_free().",
            pool.waiting_submitters);
  out.counter("tandem_rejections_total", "Submissions that found the pool full or shut down.",
              pool.rejections);
  out.counter("tandem_items_total",
              "Jobs that workers have run; forked children that nobody stole are not counted.",
              pool.items);
  out.counter("tandem_injected_items_total", "Jobs that came from outside the pool.",
              pool.injected);
  out.counter("tandem_tasks_ended_total", "Spawned tasks that ended on a worker.", pool.tasks);
  out.counter("tandem_steals_total", "Jobs that workers have taken from each other.", pool.steals);
  out.counter("tandem_parks_total", "How often a worker went to sleep.", pool.parks);
  out.counter("tandem_wakes_total", "How often a worker was woken or started.", pool.wakes);
}

void append_timers(family_list& out, const timer_stats& timers) {
  out.gauge("tandem_timers_armed", "Sleeps, time limits and ticks that wait for their time.",
            timers.armed);
  out.counter("tandem_timers_started_total", "Timers that were armed.", timers.started);
  out.counter("tandem_timers_fired_total", "Timers whose time came.", timers.fired);
  out.counter("tandem_timers_stopped_total", "Timers that were stopped before their time.",
              timers.stopped);
  out.seconds("tandem_timer_lateness_seconds_total",
              "By how much the timers that fired were late, in all.", timers.lateness);
  out.counter("tandem_timer_wakes_total",
              "How often who drives the timers was woken for an earlier one.", timers.wakes);
}

void append_names(family_list& out, const std::vector<task_counts>& all) {
  if (all.empty()) return;
  const auto family = [&](const char* name, const char* help, auto value_of) {
    metric_family& made = out.labelled(name, help, metric_kind::counter);
    for (const task_counts& each : all)
      made.add(value_of(each), out.labels("task", each.name.c_str()));
  };
  const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
  const auto seconds = [](std::chrono::nanoseconds value) {
    return std::chrono::duration<double>(value).count();
  };
  family("tandem_named_tasks_ended_total", "Tasks that have ended, by name.",
         [&](const task_counts& of) { return count(of.ended); });
  family("tandem_named_tasks_run_seconds_total", "How long tasks have run, by name.",
         [&](const task_counts& of) { return seconds(of.run); });
  family("tandem_named_tasks_queue_seconds_total", "How long tasks have waited in queues, by name.",
         [&](const task_counts& of) { return seconds(of.queue_wait); });
  family("tandem_named_tasks_waits_total",
         "How often a task that was suspended was queued again, by name.",
         [&](const task_counts& of) { return count(of.waits); });
  family("tandem_named_tasks_wakes_total", "How often a task has queued another one, by its name.",
         [&](const task_counts& of) { return count(of.wakes); });
  family("tandem_named_tasks_stalls_total",
         "Segments that have kept their thread for 5 ms or longer, by name.",
         [&](const task_counts& of) { return count(of.stalls); });
  family("tandem_named_tasks_steals_total",
         "How often a worker has taken a task from another one to run it next, by name.",
         [&](const task_counts& of) { return count(of.steals); });
}

}  // namespace

std::vector<metric_family> runtime_metrics::families() const {
  family_list out(series.empty() ? name : series);  // empty: a snapshot that was made by hand
  append_threads(out, workers);
  append_decisions(out, decided);
  append_queues(out, workers);
  out.gauge("tandem_live_tasks", "Spawned tasks that have not ended.", live_tasks);
  metric_family& states = out.labelled(
      "tandem_pool_state", "1 for the state that the worker pool is in.", metric_kind::gauge);
  for (const pool_state each : {pool_state::running, pool_state::shutdown, pool_state::stop,
                                pool_state::tidying, pool_state::terminated}) {
    states.add(each == state ? 1 : 0, out.labels("state", to_string(each)));
  }
  append_timers(out, timers);
  if (times_tasks) {
    out.histogram("tandem_queue_wait_seconds",
                  "How long segments of the timed tasks waited in queues.", queue_wait);
    out.histogram("tandem_run_seconds", "How long segments of the timed tasks ran.", run);
  }
  append_names(out, by_name);
  for (const metric_family& each : services) out.append(each);
  return out.take();
}

std::string metrics_text(const runtime_metrics& metrics) {
  const std::vector<metric_family> families = metrics.families();
  return metrics_text(std::span(families));
}

}  // namespace tandem::inline v0
