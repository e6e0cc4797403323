// completion_metrics.cpp: what the numbers of a completion pool are called.
// SPDX-License-Identifier: MIT
#include "pool/completion_metrics.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <tandem/metric_family.hpp>

namespace tandem::inline v0::io {

void append_completion_metrics(const completion_pool_stats& now, std::vector<metric_family>& out) {
  const auto gauge = [&](const char* name, const char* help, std::uint64_t value) {
    out.emplace_back(name, help, metric_kind::gauge, static_cast<double>(value));
  };
  const auto counter = [&](const char* name, const char* help, std::uint64_t value) {
    out.emplace_back(name, help, metric_kind::counter, static_cast<double>(value));
  };
  gauge("tandem_completion_threads", "Completion threads that run.", now.threads);
  gauge("tandem_completion_threads_min", "The fewest completion threads there may be.",
        now.min_threads);
  gauge("tandem_completion_threads_max", "The most completion threads there may be.",
        now.max_threads);
  gauge("tandem_completion_threads_goal", "Completion threads that new connections are bound to.",
        now.goal);
  const auto by_reason = [&](const char* name, const char* help, const auto& counts) {
    metric_family& family = out.emplace_back(name, help, metric_kind::counter);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      family.add(static_cast<double>(counts[i]),
                 {metric_label("reason", to_string(static_cast<decision_reason>(i)))});
    }
  };
  by_reason("tandem_completion_thread_injections_total",
            "Completion threads added by the pool itself, by reason.", now.injections);
  by_reason("tandem_completion_thread_retirements_total",
            "Completion threads let go by the pool itself, by reason.", now.retirements);
  gauge("tandem_completion_in_flight", "Operations that were submitted and have not completed.",
        now.in_flight);
  gauge("tandem_completion_backlog", "Ready tasks of the pool's executor that no thread has taken.",
        now.backlog);
  counter("tandem_completion_submissions_total", "Operations handed to a ring.", now.submitted);
  counter("tandem_completions_total", "Operations that have completed.", now.completed);
  counter("tandem_completion_wakes_total", "Wakes of a sleeping completion thread.", now.wakes);
  counter("tandem_completion_items_total", "Jobs run on completion threads.", now.items);
  counter("tandem_completion_stolen_total", "Tasks taken over by another completion thread.",
          now.stolen);
  counter("tandem_completion_stalls_total", "Times that a task ran longer than stall_threshold.",
          now.stalls);
  std::vector<double> bounds;
  for (std::size_t i = 0; i + 1 < now.batch_sizes.size(); ++i) {
    bounds.push_back(static_cast<double>(std::uint64_t{1} << i));
  }
  out.emplace_back("tandem_completion_batch_size", "Completions reaped at once.",
                   metric_kind::histogram)
      .add(metric_histogram(std::move(bounds), {now.batch_sizes.begin(), now.batch_sizes.end()},
                            static_cast<double>(now.reaped)));
}

}  // namespace tandem::inline v0::io
