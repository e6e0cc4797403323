// report.cpp: sums and JSON.
// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace monitor {

summary::summary(const pool_watch& watch, double load_seconds) {
  std::size_t counted = 0;
  std::uint64_t completed = 0;
  for (const sample& each : watch.samples()) {
    seconds = each.seconds;
    most_threads = std::max(most_threads, each.threads);
    last_threads = each.threads;
    if (each.seconds > load_seconds) continue;
    completed = each.completed;
    if (each.seconds < load_seconds / 2) continue;
    mean_threads += each.threads;
    ++counted;
  }
  if (counted != 0) mean_threads /= static_cast<double>(counted);
  if (load_seconds > 0) items_per_second = static_cast<double>(completed) / load_seconds;
  injections = watch.came();
  retirements = watch.left();
  std::uint64_t told = 0;
  for (const tandem::pool_decision& each : watch.decisions()) {
    told += each.action == tandem::pool_action::change_goal ? 0 : 1;
  }
  untold = injections + retirements - std::min(told, injections + retirements);
}

std::string to_string(const summary& run) {
  const std::string left_out =
      run.untold == 0 ? ""
                      : fmt::format(" ({} of them without a line: too many at once)", run.untold);
  return fmt::format(
      "{:.1f} items/s, {:.1f} threads on average (second half of the load), at most {}, {} at the "
      "end; {} injections, {} retirements{} in {:.1f} s",
      run.items_per_second, run.mean_threads, run.most_threads, run.last_threads, run.injections,
      run.retirements, left_out, run.seconds);
}

std::string line_of(const tandem::pool_decision& decision) {
  const bool came = decision.action == tandem::pool_action::inject;
  return fmt::format("{} {}1 n={} {}t={:.2f}s", to_string(decision.action), came ? '+' : '-',
                     decision.threads,
                     came ? fmt::format("reason={} ", to_string(decision.reason)) : std::string(),
                     std::chrono::duration<double>(decision.when).count());
}

void expect_to_write(const std::string& file) {
  const std::ofstream stream(file, std::ios::app);
  if (!stream) throw std::runtime_error("pool_monitor: cannot write " + file);
}

void write_json(const std::string& file, const settings& chosen, const pool_watch& watch,
                const summary& run) {
  nlohmann::json out;
  out["load"] = chosen.load == load_kind::cpu ? "cpu" : "io";
  out["min_threads"] = chosen.pool.min_threads;
  out["max_threads"] = chosen.pool.max_threads;
  out["growth"] = to_string(chosen.pool.growth);
  out["adaptive"] = chosen.pool.adaptive.enabled;
  out["items_per_second"] = run.items_per_second;
  out["mean_threads"] = run.mean_threads;
  out["most_threads"] = run.most_threads;
  out["last_threads"] = run.last_threads;
  out["seconds"] = run.seconds;
  for (const sample& each : watch.samples()) {
    out["samples"].push_back({{"t", each.seconds},
                              {"threads", each.threads},
                              {"goal", each.goal},
                              {"idle", each.idle},
                              {"queued", each.queued},
                              {"completed", each.completed}});
  }
  out["decisions"] = nlohmann::json::array();
  for (const tandem::pool_decision& each : watch.decisions()) {
    out["decisions"].push_back({{"t", std::chrono::duration<double>(each.when).count()},
                                {"action", to_string(each.action)},
                                {"reason", to_string(each.reason)},
                                {"old_goal", each.old_goal},
                                {"new_goal", each.new_goal},
                                {"threads", each.threads},
                                {"throughput", each.throughput},
                                {"cpu", each.cpu}});
  }
  std::ofstream stream(file);
  stream << out.dump(1) << '\n';
  stream.close();
  if (!stream) throw std::runtime_error("pool_monitor: cannot write " + file);
}

}  // namespace monitor
