// fib.cpp: case fib_36: the price of a fork and a join, with nothing else to do.
// SPDX-License-Identifier: MIT
#include "fib_tasks.hpp"

namespace tandem::bench {

namespace {

task<long> awaited(int m) {
  if (m < 2) co_return m;
  const long a = co_await awaited(m - 1);
  co_return a + co_await awaited(m - 2);
}

/// One sample of tasks that `make(n)` gives.
template <class Make>
double sample_tasks(int threads, Make make) {
  workers on(threads);
  return fib::sample([&](int m) { return on(make(m)); });
}

bench_case row(const char* impl, const char* role, std::vector<int> threads,
               std::function<double(int)> sample) {
  return {.name = fib::name,
          .impl = impl,
          .role = role,
          .unit = "ns/task",
          .better = "lower",
          .input = fib::input,
          .threads = std::move(threads),
          .sample = std::move(sample)};
}

}  // namespace

void add_fib(case_list& cases) {
  cases.push_back(row("serial", "floor", {1}, [](int) { return fib::sample(fib::serial); }));
  cases.push_back(row("serial_coroutine", "floor", {1},
                      [](int t) { return sample_tasks(t, [](int m) { return awaited(m); }); }));
  cases.push_back(row("tandem", "self", {},
                      [](int t) { return sample_tasks(t, [](int m) { return fib::forked(m); }); }));
#ifdef TANDEM_BENCH_PARALLEL_INVOKE
  cases.push_back(row("tandem_invoke", "self", {}, [](int t) {
    return sample_tasks(t, [](int m) { return fib::invoked_on_worker(m); });
  }));
#endif
}

}  // namespace tandem::bench
