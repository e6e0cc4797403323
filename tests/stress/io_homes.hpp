// io_homes.hpp: every place where a task that does I/O may live, drawn.
// SPDX-License-Identifier: MIT
#pragma once

#include <random>
#include <tandem/io/install.hpp>

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

}  // namespace tandem::test
