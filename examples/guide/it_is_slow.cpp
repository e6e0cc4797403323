// it_is_slow.cpp: the code of chapter 17: a task that keeps its worker, seen by advice, counters and a trace.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <iostream>
#include <sstream>
#include <string>
#include <tandem/tandem.hpp>
#include <thread>

using namespace std::chrono_literals;
using tandem::task;

task<void> report(std::atomic<bool>& over) {
  tandem::name("report");
  while (!over) std::this_thread::sleep_for(1ms);  // a call that blocks, on a worker
  co_return;
}

task<void> solve(tandem::event& solved) {
  tandem::name("GET /solve");
  solved.set();
  co_return;
}

int main() {
  tandem::runtime_options options;
  options.min_threads = options.max_threads = 1;  // one worker, so that it is seen at once
  options.count_tasks_by_name = true;
  options.log_starvation = false;
  tandem::runtime rt(options);
  rt.trace_to("");  // into memory; or "run.json", for write_trace()

  std::atomic<bool> over{false};
  tandem::event solved;
  auto slow = rt.spawn(report(over));
  auto waits = rt.spawn(solve(solved));
  std::string advice;
  while (advice.find("has run task") == std::string::npos) {
    for (const std::string& each : rt.diagnose()) advice += each + "\n";
  }
  std::cout << advice;
  over = true;
  waits.wait();
  slow.wait();

  for (const tandem::task_counts& each : rt.metrics().by_name) {
    std::cout << each.name << " ran for " << each.run / 1us << " us, " << each.stalls
              << " stalls\n";
  }
  std::ostringstream trace;
  rt.write_trace(trace);  // https://ui.perfetto.dev shows it
  return trace.str().find("report") != std::string::npos ? 0 : 1;
}
