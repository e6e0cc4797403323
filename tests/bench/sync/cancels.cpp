// cancels.cpp: cases cancel_*: a scope of scopes of sleeping tasks is stopped at its root.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <tandem/errors.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "suite.hpp"

namespace tandem::bench {

namespace {

using clock = std::chrono::steady_clock;

thread_local long caught = 0;  // so that a handler does something

task<void> sleep_long(std::atomic<long>& asleep) {
  asleep.fetch_add(1);
  co_await sleep_for(std::chrono::hours(1));
}

task<void> group(std::atomic<long>& asleep) {
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (long i = 0; i < problems::cancel_size; ++i) scope.spawn(sleep_long(asleep));
    co_return;
  });
}

/// Adds the time from the request until all have ended.
task<void> cancel_once(long total, double& taken) {
  std::atomic<long> asleep{0};
  clock::time_point start;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (long i = 0; i < total / problems::cancel_size; ++i) scope.spawn(group(asleep));
    while (asleep.load() < total) co_await yield();
    co_await yield();
    start = clock::now();
    scope.request_stop();
  });
  taken += std::chrono::duration<double, std::nano>(clock::now() - start).count();
}

bench_case cancel(const problem& of, int passes) {
  return row(of, "tandem", "self", [of, passes](int threads) {
    workers on(threads);
    const long total = scaled(of.n);
    double taken = 0;
    on(cancel_once(total, taken));
    taken = 0;
    for (int i = 0; i < passes; ++i) on(cancel_once(total, taken));
    return taken / (static_cast<double>(total) * passes);
  });
}

/// As much as C++ itself takes: a task that sleeps throws in its own frame, which catches it.
TANDEM_NOINLINE void throw_and_catch(stop_reason reason) {
  try {
    throw operation_cancelled(reason);
  } catch (...) {
    ++caught;
  }
}

bench_case bare_throw(const problem& of, int passes) {
  return row(of, "bare_throw", "floor", [of, passes](int threads) {
    const long total = scaled(of.n) * passes;
    const auto throw_share = [each = total / threads] {
      for (long i = 0; i < each; ++i) throw_and_catch(stop_reason::user);
    };
    std::vector<std::thread> others;
    return nanoseconds_per(static_cast<double>(total), [&] {
      for (int i = 1; i < threads; ++i) others.emplace_back(throw_share);
      throw_share();
      for (std::thread& each : others) each.join();
    });
  });
}

}  // namespace

void add_cancels(case_list& cases) {
  for (const auto& [of, passes] :
       {std::pair(problems::cancel_10k, 20), std::pair(problems::cancel_100k, 3)}) {
    cases.push_back(cancel(of, passes));
    cases.push_back(bare_throw(of, passes));
  }
}

}  // namespace tandem::bench
