// kept_handles.hpp: the handles of a stress test's tasks, and how those ended.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <tandem/errors.hpp>
#include <tandem/spawn.hpp>
#include <utility>
#include <vector>

namespace tandem::test {

/// @thread_safety  all members from any thread
class kept_handles {
 public:
  class ends {
   public:
    long values = 0;     // ran to their end
    long cancelled = 0;  // were stopped, dropped or removed
    long all() const noexcept { return values + cancelled; }
  };

  void keep(join_handle<void> handle) {
    const std::lock_guard guard(lock_);
    handles_.push_back(std::move(handle));
  }

  /// Once no task lives: each handle has to be done. Any failure but a cancellation is rethrown.
  ends count_ends() {
    const std::lock_guard guard(lock_);
    ends counted;
    for (auto& each : handles_) {
      EXPECT_TRUE(each.is_done());
      try {
        each.wait();
        ++counted.values;
      } catch (const operation_cancelled&) {
        ++counted.cancelled;
      }
    }
    handles_.clear();  // a task that never started is destroyed with its handle
    return counted;
  }

 private:
  std::mutex lock_;
  std::vector<join_handle<void>> handles_;  // guarded by lock_
};

}  // namespace tandem::test
