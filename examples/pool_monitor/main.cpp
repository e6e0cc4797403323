// main.cpp: pool_monitor: feeds a pool and shows how its threads come and go. See examples/README.md.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>

#include <tandem/runtime.hpp>

#include "load.hpp"
#include "monitor.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace {

using monitor::settings;

void tell(const tandem::pool_decision& decision) {
  if (decision.action == tandem::pool_action::change_goal) return;
  std::printf("%s\n", monitor::line_of(decision).c_str());
  std::fflush(stdout);
}

/// The surplus goes when it has been idle for keep_alive; some seconds more are patience.
void wait_for_retirement(tandem::worker_pool& pool, const settings& chosen) {
  const auto until =
      std::chrono::steady_clock::now() + chosen.pool.keep_alive + std::chrono::seconds(5);
  while (pool.stats().threads > chosen.pool.min_threads &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void run(const settings& chosen) {
  if (!chosen.json_file.empty()) monitor::expect_to_write(chosen.json_file);
  if (!chosen.plot_file.empty()) monitor::expect_to_draw(chosen.plot_file);
  monitor::progress items;  // outlives the runtime, whose tasks write to it
  tandem::runtime rt(chosen.pool);
  std::printf("%s: min %u, max %u, keep_alive %.1f s, %s; ends by itself\n",
              chosen.load == monitor::load_kind::cpu || chosen.blocking_percent == 0
                  ? "items that compute"
                  : "items that wait and compute",
              chosen.pool.min_threads, chosen.pool.most_threads(),
              std::chrono::duration<double>(chosen.pool.keep_alive).count(), way_of(chosen));
  monitor::pool_watch watch(rt.workers(), items, [&](const tandem::pool_decision& decision) {
    if (!chosen.quiet) tell(decision);
  });
  const auto began = std::chrono::steady_clock::now();
  if (chosen.burst != 0) {
    rt.spawn(monitor::feed_burst(rt.workers(), chosen, items)).wait();
  } else {
    rt.spawn(monitor::feed(rt.workers(), chosen, items)).wait();
    if (chosen.pause.count() != 0) {
      std::this_thread::sleep_for(chosen.pause);
      rt.spawn(monitor::feed(rt.workers(), chosen, items)).wait();
    }
  }
  const double load_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  wait_for_retirement(rt.workers(), chosen);
  watch.stop();
  const monitor::summary result(watch, load_seconds);
  std::printf("%s\n", to_string(result).c_str());
  if (!chosen.json_file.empty()) monitor::write_json(chosen.json_file, chosen, watch, result);
  if (!chosen.plot_file.empty()) monitor::draw(chosen.plot_file, chosen, watch);
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  try {
    const auto chosen = monitor::parse(argc, argv, exit_code);
    if (chosen) run(*chosen);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
  return exit_code;
}
