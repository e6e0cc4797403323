// skynet_tasks.hpp: skynet as tandem tasks.
// SPDX-License-Identifier: MIT
#pragma once

#include "skynet.hpp"
#include "suite.hpp"

namespace tandem::bench::skynet {

template <class Counter = no_counter>
task<long> forked(long first, long count) {
  Counter::started();
  if (count == 1) co_return first;
  const long part = count / fan_out;
  const auto sums = co_await fork_each<fan_out>(
      [&](std::size_t i) { return forked<Counter>(first + static_cast<long>(i) * part, part); });
  long sum = 0;
  for (const long one : sums) sum += one;
  co_return sum;
}

}  // namespace tandem::bench::skynet
