// fib_tasks.hpp: fib as tandem tasks, and by parallel_invoke in plain functions.
// SPDX-License-Identifier: MIT
#pragma once

#include "fib.hpp"
#include "suite.hpp"
#if __has_include(<tandem/parallel_invoke.hpp>)
#include <tandem/parallel_invoke.hpp>
#define TANDEM_BENCH_PARALLEL_INVOKE 1
#endif

namespace tandem::bench::fib {

template <class Counter = no_counter>
task<long> forked(int m) {
  Counter::started();
  if (m < 2) co_return m;
  auto [a, b] = co_await fork_join(forked<Counter>(m - 1), forked<Counter>(m - 2));
  co_return a + b;
}

#ifdef TANDEM_BENCH_PARALLEL_INVOKE
template <class Counter = no_counter>
long invoked(int m) {
  Counter::started();
  if (m < 2) return m;
  auto [a, b] = parallel_invoke([m] { return invoked<Counter>(m - 1); },
                                [m] { return invoked<Counter>(m - 2); });
  return a + b;
}

template <class Counter = no_counter>
task<long> invoked_on_worker(int m) {
  co_return invoked<Counter>(m);
}
#endif

}  // namespace tandem::bench::fib
