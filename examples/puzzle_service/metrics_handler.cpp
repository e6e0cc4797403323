// metrics_handler.cpp: GET /metrics: the runtime's metrics and the service's own, for Prometheus.
// SPDX-License-Identifier: MIT
#include <utility>
#include <vector>

#include "router.hpp"

namespace service {

namespace {

using tandem::metric_family;
using tandem::metric_kind;

void append_own(std::vector<metric_family>& out, const service_state& service) {
  const auto add = [&](const char* name, const char* help, metric_kind kind, std::uint64_t value) {
    out.emplace_back(name, help, kind, static_cast<double>(value));
  };
  add("puzzle_requests_total", "Requests that were read.", metric_kind::counter,
      service.requests.load(std::memory_order_relaxed));
  add("puzzle_connections_open", "Connections that are open.", metric_kind::gauge,
      service.open_connections.load(std::memory_order_relaxed));
  add("puzzle_connections_total", "Connections that were served.", metric_kind::counter,
      service.connections.served.load(std::memory_order_relaxed));
  add("puzzle_refused_connections_total", "Connections that were one too many, and were told so.",
      metric_kind::counter, service.connections.over_limit.load(std::memory_order_relaxed));
  add("puzzle_closed_connections_total", "Connections that were closed without a word.",
      metric_kind::counter, service.connections.closed.load(std::memory_order_relaxed));
  add("puzzle_searches_running", "Searches under way.", metric_kind::gauge,
      service.searches_running.load(std::memory_order_relaxed));
  add("puzzle_searches_total", "Searches that were begun.", metric_kind::counter,
      service.searches_total.load(std::memory_order_relaxed));
  add("puzzle_searches_stopped_total", "Searches whose client left, or that the end stopped.",
      metric_kind::counter, service.searches_stopped.load(std::memory_order_relaxed));
  const keeper_state answers = service.keeper.state();
  add("puzzle_answers_kept_total", "Answers that were written to the database.",
      metric_kind::counter, answers.kept);
  add("puzzle_answers_from_memory_total", "Requests whose answer was in memory.",
      metric_kind::counter, answers.from_memory);
  add("puzzle_answers_from_database_total", "Requests whose answer the database knew.",
      metric_kind::counter, answers.from_store);
  add("puzzle_answers_waiting", "Answers that are to be written.", metric_kind::gauge,
      answers.waiting);
  add("puzzle_answers_given_up_total", "Answers that there was no room to keep.",
      metric_kind::counter, answers.given_up);
  add("puzzle_database_there", "Whether the database can be reached.", metric_kind::gauge,
      answers.database == database_state::there ? 1 : 0);
}

}  // namespace

tandem::task<http_response> show_metrics(exchange& call) {
  std::vector<metric_family> all = call.service.runtime.metrics().families();
  append_own(all, call.service);
  std::string text = tandem::metrics_text(all);
  co_return http_response(200, "text/plain; version=0.0.4; charset=utf-8", std::move(text));
}

}  // namespace service
