// executor_support.hpp: what the tests of strand, single thread, fair queue and priorities share.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tandem/event.hpp>
#include <tandem/executor.hpp>
#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "runtime/support/sync_support.hpp"
#include "simulated.hpp"
#include "test_runtime.hpp"

namespace tandem::test {

/// Runs only while the test drives it: one worker, in the order of its lanes.
inline runtime_options driven() {
  runtime_options options;
  options.min_threads = 0;
  return options;
}

/// Notes its letter once for each segment.
inline task<void> note(std::string& log, char letter, int segments = 1) {
  for (int i = 0; i < segments; ++i) {
    if (i != 0) co_await yield();
    log += letter;
  }
}

/// Whether all that holds between two suspensions of tasks of one strand does hold.
class exclusive {
 public:
  /// Between two suspensions.
  void step() noexcept {
    if (inside_.exchange(true, std::memory_order_relaxed)) broken_ = true;
    ++steps_;  // plain: ThreadSanitizer sees whether one step happens before the next
    inside_.store(false, std::memory_order_relaxed);
  }
  bool broken() const noexcept { return broken_; }
  long steps() const noexcept { return steps_; }

 private:
  std::atomic<bool> inside_{false};
  std::atomic<bool> broken_{false};
  long steps_ = 0;
};

}  // namespace tandem::test
