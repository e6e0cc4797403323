// worker_pool.cpp: a bounded queue with backpressure, a live change, hooks, metrics, an orderly end.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <tandem/pool_change.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/runtime_metrics.hpp>
#include <tandem/sleep.hpp>
#include <tandem/sync_wait.hpp>

using namespace std::chrono_literals;
using tandem::task;

task<void> shrink_image(std::atomic<int>& done) {
  co_await tandem::sleep_for(1ms);  // some work
  ++done;
}

// As fast as the pool takes it, and no faster: where its queue is full this waits, and keeps no
// thread.
task<void> feed(tandem::worker_pool& pool, std::atomic<int>& done) {
  for (int i = 0; i < 100; ++i) {
    auto image = co_await pool.submit_when_free(shrink_image(done));
    image.detach();
  }
}

int main() {
  std::atomic<int> done{0};
  std::atomic<std::int64_t> waited_ns{0};
  tandem::runtime_options options;
  options.name = "images";
  options.min_threads = 1;
  options.max_threads = 4;
  options.submissions.queue = tandem::queue_kind::bounded;
  options.submissions.capacity = 8;
  options.submissions.when_saturated = tandem::saturation_policy::abort;
  options.hooks.on_task_end = [&](const tandem::task_event& ended) {
    waited_ns += ended.queue_wait.count();
  };
  tandem::runtime runtime(options);
  tandem::worker_pool& pool = runtime.workers();

  tandem::sync_wait(pool, feed(pool, done));

  // By day four threads at least; what runs and what waits stays.
  tandem::pool_change day;
  day.min_threads = 4;
  pool.reconfigure(day);
  tandem::sync_wait(pool, feed(pool, done));

  const std::string page = tandem::metrics_text(runtime.metrics());  // for GET /metrics
  std::cout << page.substr(0, page.find("# HELP", 1)) << "...\n";

  pool.shutdown();  // takes nothing more, and ends what it has taken
  bool refused = false;
  try {
    pool.submit(shrink_image(done)).detach();
  } catch (const tandem::rejected& why) {
    std::cout << why.what() << '\n';
    refused = true;
  }
  const bool ended = pool.await_termination(60s);
  std::cout << done << " images; in queues for " << waited_ns / 1000 << " us in all\n";
  return ended && refused && done == 200 ? 0 : 1;
}
