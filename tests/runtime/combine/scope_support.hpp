// scope_support.hpp: children for the tests of scopes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <tandem/errors.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task.hpp>

#include "test_runtime.hpp"

namespace tandem::test {

inline task<void> nothing() { co_return; }

inline task<void> sleep_long() { co_await sleep_for(std::chrono::hours(10)); }

/// Sleeps until it is stopped, which has to be for this reason, and counts that.
inline task<void> count_stop(std::atomic<int>& stopped, stop_reason expected) {
  try {
    co_await sleep_long();
  } catch (const operation_cancelled& e) {
    EXPECT_EQ(e.reason(), expected);
    ++stopped;
    throw;
  }
}

}  // namespace tandem::test
