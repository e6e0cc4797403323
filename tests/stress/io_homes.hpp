// io_homes.hpp: every place where a task that does I/O may live, drawn.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <random>
#include <tandem/io/install.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task.hpp>

#include "test_runtime.hpp"

namespace tandem::test {

/// Two completion threads and the workers: an operation may live beside its ring, beside another
/// one, or elsewhere.
class homes {
 public:
  explicit homes(io::completion_options options = {}) {
    options.adaptive = false;  // its descriptors are counted
    options.min_threads = 1;
    options.max_threads = 3;
    pool = &io::install(*rt, options);
    pool->resize(2);
  }
  executor& any(std::mt19937_64& random) {
    switch (random() % 4) {
      case 0: return rt.workers();
      case 1: return pool->executor();
      default: return pool->thread(random() % 2).executor();
    }
  }
  test_runtime rt;
  io::completion_pool* pool = nullptr;
};

/// Often waits a little, and then often asks `running`, a join_handle, to stop.
task<void> stop_at_some_time(auto& running, std::mt19937_64& random) {
  if (random() % 4 != 0) co_await sleep_for(std::chrono::microseconds(random() % 400));
  if (random() % 3 != 0) running.cancel();
}

}  // namespace tandem::test
