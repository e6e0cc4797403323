// skynet.hpp: the problem skynet: a tree of 10 children a node whose 1M leaves return their number.
// SPDX-License-Identifier: MIT
//
// Wide forks of tiny tasks; results are summed up on the way back. A pass takes some 10 ms, so a
// sample is ten of them.
#pragma once

#include "../bench.hpp"

namespace tandem::bench::skynet {

constexpr const char* name = "skynet_1m";
constexpr const char* input = "1,000,000 leaves, 10 children a node";
constexpr int fan_out = 10;
constexpr long leaves = 1'000'000;
constexpr long tasks = 1'111'111;
constexpr long result = leaves * (leaves - 1) / 2;
constexpr long passes = 10;

/// The sum of the numbers of the `count` leaves that begin at `first`.
[[gnu::noinline]] inline long serial(long first, long count) {
  if (count == 1) return first;
  long sum = 0;
  const long part = count / fan_out;
  for (long i = 0; i < fan_out; ++i) sum += serial(first + i * part, part);
  return sum;
}

/// One sample: `compute(first, count)` gives the sum.
template <class Compute>
double sample(Compute&& compute) {
  (void)compute(0L, leaves);
  long got = 0;
  const double taken = nanoseconds_per(static_cast<double>(tasks * passes), [&] {
    for (long i = 0; i < passes; ++i) got += compute(0L, leaves);
  });
  expect_equal(got, passes * result, "skynet");
  return taken;
}

}  // namespace tandem::bench::skynet
