// timers.cpp: cases sleep_1m* and timeout_*: tasks that sleep, and time limits that are not reached.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <tandem/fork_each.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

#include "suite.hpp"

namespace tandem::bench {

namespace {

task<void> sleep_once(std::chrono::nanoseconds limit) { co_await sleep_for(limit); }

task<void> sleeps(long n) {
  co_await with_scope([n](task_scope& scope) -> task<void> {
    random_durations random;
    for (long i = 0; i < n; ++i) {
      scope.spawn(sleep_once(std::chrono::nanoseconds(random.next_nanoseconds())));
    }
    co_return;
  });
}

/// As above, for children of one fork: without a spawned root each.
task<void> forked_sleeps(long n) {
  random_durations random;
  (void)co_await fork_each(static_cast<std::size_t>(n), [&random](std::size_t) {
    return sleep_once(std::chrono::nanoseconds(random.next_nanoseconds()));
  });
}

template <auto Sleeps>
double sleep_cpu(int threads) {
  workers on(threads);
  const long n = scaled(problems::sleep_1m.n);
  on(Sleeps(1000));
  const double before = cpu_nanoseconds();
  on(Sleeps(n));
  return (cpu_nanoseconds() - before) / static_cast<double>(n);
}

task<void> sleep_long(std::atomic<long>& asleep) {
  asleep.fetch_add(1);
  co_await sleep_for(std::chrono::hours(1));
}

void spawn_all(task_scope& scope, long n, std::atomic<long>& asleep) {
  for (long i = 0; i < n; ++i) scope.spawn(sleep_long(asleep));
}

task<void> fork_long(long n, std::atomic<long>& asleep) {
  (void)co_await fork_each(static_cast<std::size_t>(n),
                           [&asleep](std::size_t) { return sleep_long(asleep); });
}
void fork_all(task_scope& scope, long n, std::atomic<long>& asleep) {
  scope.spawn(fork_long(n, asleep));
}

template <auto Begin>
task<void> measure_asleep(long n, double& megabytes) {
  std::atomic<long> asleep{0};
  co_await with_scope([&](task_scope& scope) -> task<void> {
    Begin(scope, n, asleep);
    while (asleep.load() < n) co_await yield();
    megabytes = resident_megabytes();
    scope.request_stop();
  });
}

template <auto Begin>
double sleep_memory(int threads) {
  workers on(threads);
  double megabytes = 0;
  on(measure_asleep<Begin>(scaled(problems::sleep_1m_memory.n), megabytes));
  return megabytes;
}

task<long> ready(long value) { co_return value; }

task<long> yielding(long value) {
  co_await yield();
  co_return value;
}

template <auto Make>
task<void> limited(long n) {
  for (long i = 0; i < n; ++i) {
    const long got = co_await with_timeout(std::chrono::hours(1), Make(i));
    expect_equal(got, i, "the result");
  }
}

}  // namespace

void add_timers(case_list& cases) {
  cases.push_back(row(problems::sleep_1m, "tandem", "self", sleep_cpu<sleeps>));
  cases.push_back(row(problems::sleep_1m, "tandem_fork_each", "self", sleep_cpu<forked_sleeps>));
  cases.push_back(row(problems::sleep_1m_memory, "tandem", "self", sleep_memory<spawn_all>));
  cases.push_back(
      row(problems::sleep_1m_memory, "tandem_fork_each", "self", sleep_memory<fork_all>));
  cases.push_back(looped(problems::timeout_ready, limited<ready>));
  cases.push_back(looped(problems::timeout_yield, limited<yielding>));
  cases.push_back(looped(problems::allocs_timeout, limited<yielding>));
}

}  // namespace tandem::bench
