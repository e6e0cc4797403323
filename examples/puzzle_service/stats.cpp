// stats.cpp: GET /stats, and what it tells.
// SPDX-License-Identifier: MIT
#include "stats.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "router.hpp"

namespace service {

namespace {

using nlohmann::ordered_json;

ordered_json worker_json(const tandem::worker_pool& workers) {
  const tandem::worker_pool_stats pool = workers.stats();
  return {{"size", workers.size()}, {"threads", pool.threads}, {"idle", pool.idle},
          {"queued", pool.queued},  {"items", pool.items},     {"steals", pool.steals},
          {"parks", pool.parks},    {"wakes", pool.wakes}};
}

ordered_json completion_json(const tandem::io::completion_pool_stats& pool) {
  return {{"threads", pool.threads},
          {"submitted", pool.submitted},
          {"completed", pool.completed},
          {"batches", pool.batches}};
}

ordered_json answers_json(const keeper_state& state) {
  return {{"database", state.in_words()},
          {"where", state.where},
          {"kept", state.kept},
          {"from_memory", state.from_memory},
          {"from_store", state.from_store},
          {"waiting", state.waiting},
          {"given_up", state.given_up},
          {"attempts", state.attempts}};
}

}  // namespace

ordered_json stats_json(const service_state& service) {
  const std::chrono::duration<double> uptime = std::chrono::steady_clock::now() - service.started;
  return {{"uptime_seconds", uptime.count()},
          {"workers", worker_json(service.runtime.workers())},
          {"completion", completion_json(service.completions.stats())},
          {"connections",
           {{"open", service.open_connections.load(std::memory_order_relaxed)},
            {"total", service.connections.served.load(std::memory_order_relaxed)},
            {"refused", service.connections.over_limit.load(std::memory_order_relaxed)},
            {"closed", service.connections.closed.load(std::memory_order_relaxed)}}},
          {"requests", service.requests.load(std::memory_order_relaxed)},
          {"searches",
           {{"running", service.searches_running.load(std::memory_order_relaxed)},
            {"total", service.searches_total.load(std::memory_order_relaxed)},
            {"stopped", service.searches_stopped.load(std::memory_order_relaxed)},
            {"nodes", service.searched_nodes.load(std::memory_order_relaxed)}}},
          {"answers", answers_json(service.keeper.state())},
          {"event_streams", service.event_streams.load(std::memory_order_relaxed)}};
}

tandem::task<http_response> show_stats(exchange& call) {
  const std::string text = stats_json(call.service).dump() + "\n";
  co_return http_response(200, "application/json", text);
}

}  // namespace service
