// stats.cpp: GET /stats: both pools, connections and searches as JSON.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <nlohmann/json.hpp>

#include "router.hpp"

namespace service {

namespace {

using nlohmann::ordered_json;

ordered_json worker_json(const tandem::worker_pool_stats& pool) {
  return {{"threads", pool.threads}, {"idle", pool.idle},     {"queued", pool.queued},
          {"items", pool.items},     {"steals", pool.steals}, {"parks", pool.parks},
          {"wakes", pool.wakes}};
}

ordered_json completion_json(const tandem::io::completion_pool_stats& pool) {
  return {{"threads", pool.threads},
          {"submitted", pool.submitted},
          {"completed", pool.completed},
          {"batches", pool.batches}};
}

}  // namespace

tandem::task<http_response> show_stats(exchange& call) {
  service_state& service = call.service;
  const std::chrono::duration<double> uptime = std::chrono::steady_clock::now() - service.started;
  const ordered_json stats = {
      {"uptime_seconds", uptime.count()},
      {"workers", worker_json(service.runtime.workers().stats())},
      {"completion", completion_json(service.completions.stats())},
      {"connections",
       {{"open", service.connections.open()},
        {"total", service.connections.total()},
        {"refused", service.refused_connections.load(std::memory_order_relaxed)}}},
      {"requests", service.requests.load(std::memory_order_relaxed)},
      {"searches",
       {{"running", service.searches_running.load(std::memory_order_relaxed)},
        {"total", service.searches_total.load(std::memory_order_relaxed)},
        {"stopped", service.searches_stopped.load(std::memory_order_relaxed)}}}};
  co_return http_response(200, "application/json", stats.dump() + "\n");
}

}  // namespace service
