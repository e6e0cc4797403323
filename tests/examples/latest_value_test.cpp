// latest_value_test.cpp: laws of the slot by which a search hands its progress to a connection.
// SPDX-License-Identifier: MIT
#include "latest_value.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include <tandem/as_result.hpp>
#include <tandem/spawn.hpp>

#include "test_runtime.hpp"

namespace {

using service::latest_value;
using tandem::task;
using tandem::test::test_runtime;

TEST(latest_value, a_newer_value_takes_the_place_of_one_that_nobody_has_taken) {
  test_runtime runtime;
  latest_value<int> slot;
  for (const int value : {1, 2, 3}) slot.put(value);
  EXPECT_EQ(runtime.run(slot.take()), 3);
  slot.put(4);
  EXPECT_EQ(runtime.run(slot.take()), 4);
}

TEST(latest_value, nothing_comes_after_its_end) {
  test_runtime runtime;
  latest_value<int> slot;
  slot.put(1);
  slot.close();
  EXPECT_EQ(runtime.run(slot.take()), std::nullopt);
}

TEST(latest_value, a_wait_that_is_stopped_takes_nothing) {
  test_runtime runtime;
  latest_value<int> slot;
  auto stopped = [&]() -> task<bool> {
    auto taking = tandem::spawn(runtime.workers(), slot.take());
    taking.cancel();
    const auto outcome = co_await tandem::as_result(taking);
    co_return outcome.is_cancelled();
  };
  EXPECT_TRUE(runtime.run(stopped()));
  slot.put(7);
  EXPECT_EQ(runtime.run(slot.take()), 7);
}

TEST(latest_value, the_last_of_a_burst_always_arrives_and_none_comes_after_a_newer_one) {
  constexpr int bursts = 20'000;
  constexpr int length = 3;
  test_runtime runtime;
  latest_value<int> slot;
  std::atomic<int> begun{0};
  std::thread writer([&] {
    for (int burst = 1; burst <= bursts; ++burst) {
      while (begun.load() < burst) std::this_thread::yield();
      for (int i = 1; i <= length; ++i) slot.put(length * (burst - 1) + i);
    }
  });
  auto reading = [&]() -> task<bool> {
    int newest = 0;
    bool grows = true;
    for (int burst = 1; burst <= bursts; ++burst) {
      begun.store(burst);
      while (newest != length * burst) {  // a burst that has lost its end hangs here
        task<std::optional<int>> taking = slot.take();
        const int value = (co_await std::move(taking)).value();
        grows = grows && value > newest;
        newest = value;
      }
    }
    co_return grows;
  };
  EXPECT_TRUE(runtime.run(reading()));
  writer.join();
  slot.close();
  EXPECT_EQ(runtime.run(slot.take()), std::nullopt);
}

}  // namespace
