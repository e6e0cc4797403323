// fib.hpp: the problem fib 36: what every implementation computes, and the plain recursion.
// SPDX-License-Identifier: MIT
//
// The smallest task there is: next to nothing is computed, so the figure is the price of a fork and
// of a join. Every call is a task, the two smallest arguments included.
#pragma once

#include "../bench.hpp"

namespace tandem::bench::fib {

constexpr const char* name = "fib_36";
constexpr const char* input = "n=36, every call a task";
constexpr int n = 36;
constexpr long result = 14'930'352;
constexpr long calls = 48'315'633;
constexpr int warm_up_n = 27;

[[gnu::noinline]] inline long serial(int m) {
  if (m < 2) return m;
  const long a = serial(m - 1);
  asm volatile("" ::: "memory");  // keeps the compiler from turning the recursion into a loop
  return a + serial(m - 2);
}

/// One sample: `compute` maps an argument to its Fibonacci number.
template <class Compute>
double sample(Compute&& compute) {
  (void)compute(warm_up_n);
  long got = 0;
  const double taken = nanoseconds_per(calls, [&] { got = compute(n); });
  expect_equal(got, result, "fib 36");
  return taken;
}

}  // namespace tandem::bench::fib
