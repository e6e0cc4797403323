// workers.hpp: tandem's threads for a sample: a runtime that runs one task at a time.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/runtime.hpp>
#include <tandem/sync_wait.hpp>
#include <utility>

namespace tandem::bench {

/// A runtime with this many workers; calling it runs a task there, waiting outside.
class workers {
 public:
  explicit workers(int threads) : runtime_(options(threads)) {}

  template <class T>
  T operator()(task<T> root) {
    return sync_wait(runtime_.workers(), std::move(root));
  }

 private:
  static runtime_options options(int threads) {
    runtime_options result;
    result.min_threads = static_cast<unsigned>(threads);
    return result;
  }

  runtime runtime_;
};

}  // namespace tandem::bench
