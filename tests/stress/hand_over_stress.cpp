// hand_over_stress.cpp: workers that step back while their forked children are being stolen.
// SPDX-License-Identifier: MIT
//
// The law: whoever steps back leaves nothing in its lanes. Found by review: where a thief was
// quicker than the owner the owner took its lane for empty, and the children that were left in it
// were lost.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <random>
#include <tandem/fork_each.hpp>
#include <tandem/pool_change.hpp>
#include <tandem/runtime.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::task;
using tandem::test::test_runtime;

task<void> fan(int depth, std::size_t width) {
  co_await tandem::yield();
  if (depth > 0) {
    const auto child = [depth](std::size_t) { return fan(depth - 1, 6); };
    co_await tandem::fork_each(width, child);
  }
  co_await tandem::yield();
}

TEST(hand_over_stress, whoever_steps_back_leaves_none_of_its_forked_children_behind) {
  tandem::runtime_options options = tandem::test::with_threads(8);
  options.max_threads = 8;
  options.adaptive = false;
  test_runtime rt(options);
  const auto set_threads = [&](unsigned count) {
    tandem::pool_change change;
    change.min_threads = count;
    change.max_threads = count;
    rt.workers().reconfigure(change);
  };
  tandem::test::stress([&](std::mt19937_64& random) {
    std::vector<tandem::join_handle<void>> roots;
    for (int i = 0; i < 4; ++i) roots.push_back(rt->spawn(fan(3, 12)));
    set_threads(8);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
    set_threads(1);
    for (auto& each : roots) each.wait();
  });
}

}  // namespace
