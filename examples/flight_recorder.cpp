// flight_recorder.cpp: a trace of requests that wait for one slow lock. flight_recorder [FILE]
// SPDX-License-Identifier: MIT
//
// With a FILE the trace goes there: open it in https://ui.perfetto.dev, or make a picture of it
// with tests/support/draw_trace.py.
#include <chrono>
#include <iostream>
#include <sstream>
#include <string>
#include <tandem/environment.hpp>
#include <tandem/mutex.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>

using namespace std::chrono_literals;

void compute(std::chrono::microseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {}
}

tandem::task<void> solve(tandem::mutex& statistics) {
  tandem::name("GET /solve");
  compute(150us);
  auto held = co_await statistics.scoped_lock();
  compute(40us);
  co_await tandem::sleep_for(400us);  // a wait inside the lock: everybody else waits, too
}

tandem::task<void> health() {
  tandem::name("GET /health");
  co_await tandem::yield();
  compute(20us);
}

tandem::task<void> report() {
  tandem::name("report");
  for (int i = 0; i < 3; ++i) {
    compute(700us);  // and nobody else runs here meanwhile
    co_await tandem::sleep_for(500us);
  }
}

tandem::task<void> requests() {
  tandem::name("accept");
  tandem::mutex statistics;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.spawn(report());
    for (int i = 0; i < 5; ++i) {
      scope.spawn(solve(statistics));
      scope.spawn(health());
      co_await tandem::sleep_for(300us);
    }
  });
}

int main(int argc, char** argv) {
  tandem::runtime_options options;
  options.min_threads = 2;
  options.max_threads = 2;
  tandem::runtime rt(options);
  rt.trace_to(argc > 1 ? argv[1] : "");
  rt.spawn(requests()).wait();
  if (argc > 1) {
    rt.write_trace();
    std::cout << "open " << argv[1] << " in https://ui.perfetto.dev\n";
    return 0;
  }
  std::ostringstream trace;
  rt.write_trace(trace);
  const std::string text = trace.str();
  const bool has_all = text.find("GET /solve") != std::string::npos &&
                       text.find("GET /health") != std::string::npos &&
                       text.find("\"outcome\":\"completed\"") != std::string::npos;
  std::cout << "a trace of " << text.size() / 1024 << " KiB\n";
  return has_all ? 0 : 1;
}
