// controller.cpp: cases controller_*: what it costs that the pool is adaptive, where all is short computation.
// SPDX-License-Identifier: MIT
#include <tandem/spawn.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task.hpp>

#include "../fork_join/fib_tasks.hpp"
#include "suite.hpp"

namespace tandem::bench::pool {

namespace {

constexpr int fib_n = 32;
constexpr long fib_result = 2'178'309;
constexpr long fib_calls = 7'049'155;

task<void> link(long left) {
  if (left > 1) spawn(link(left - 1)).detach();
  tally::count();
  co_return;
}

/// So many workers; more only if the pool is an adaptive one and has a reason.
runtime_options options_of(int threads, bool adaptive) {
  runtime_options options;
  options.min_threads = static_cast<unsigned>(threads);
  options.max_threads = 1024;
  options.adaptive.enabled = adaptive;
  return options;
}

template <bool Adaptive>
class short_tasks {
 public:
  short_tasks(int threads, long) : runtime_(options_of(threads, Adaptive)) {}
  void start(long length) { runtime_.spawn(link(length)).detach(); }

 private:
  runtime runtime_;
};

bench_case short_row(bench_case row) {
  row.name = "controller_short";
  row.input = "as inside, with tasks; adaptive or fixed";
  return row;
}

template <bool Adaptive>
bench_case fork_join_row(const char* impl) {
  bench_case row{.name = "controller_fork_join",
                 .impl = impl,
                 .role = "self",
                 .unit = "ns/task",
                 .better = "lower",
                 .input = "fib 32, every call a task; adaptive or fixed",
                 .threads = {},
                 .sample = {}};
  row.sample = [](int threads) {
    runtime runtime(options_of(threads, Adaptive));
    (void)sync_wait(runtime.workers(), fib::forked(fib::warm_up_n));
    if (scaled(round_items) != round_items) return 0.0;  // only to see that it runs
    long got = 0;
    const double taken =
        nanoseconds_per(fib_calls, [&] { got = sync_wait(runtime.workers(), fib::forked(fib_n)); });
    expect_equal(got, fib_result, "fib 32");
    return taken;
  };
  return row;
}

}  // namespace

void add_controller_costs(case_list& cases) {
  cases.push_back(short_row(chained<short_tasks<true>>("tandem", "self")));
  cases.push_back(short_row(chained<short_tasks<false>>("tandem_fixed", "self")));
  cases.push_back(fork_join_row<true>("tandem"));
  cases.push_back(fork_join_row<false>("tandem_fixed"));
}

}  // namespace tandem::bench::pool
