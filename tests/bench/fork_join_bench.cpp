// fork_join_bench.cpp: suite fork_join: forks without a cut-off, spawns, awaited calls; plain calls as floor.
// SPDX-License-Identifier: MIT
#include <tandem/fork_join.hpp>
#include <tandem/spawn.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/yield.hpp>

#include "bench.hpp"

namespace {

using tandem::task;
using tandem::bench::nanoseconds_per;

constexpr int fib_n = 32;
constexpr double fib_tasks = 7'049'155;  // calls of fib(32)
constexpr int spawns = 300'000;

[[gnu::noinline]] long plain_fib(int n) {
  if (n < 2) return n;
  const long a = plain_fib(n - 1);
  asm volatile("" ::: "memory");  // keeps the compiler from turning the recursion into a loop
  return a + plain_fib(n - 2);
}
task<long> awaited_fib(int n) {
  if (n < 2) co_return n;
  const long a = co_await awaited_fib(n - 1);
  co_return a + co_await awaited_fib(n - 2);
}
task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}
task<int> one() { co_return 1; }
task<long> spawn_and_join() {
  long sum = 0;
  for (int i = 0; i < spawns; ++i) {
    auto handle = tandem::spawn(one());
    sum += co_await handle;
  }
  co_return sum;
}
task<long> yields() {
  for (int i = 0; i < spawns; ++i) co_await tandem::yield();
  co_return spawns;
}

/// Time per unit of a task that runs in a warm runtime.
template <class Make>
double in_runtime(int threads, double count, Make make) {
  tandem::runtime_options options;
  options.min_threads = static_cast<unsigned>(threads);
  tandem::runtime rt(options);
  (void)tandem::sync_wait(rt.workers(), make());
  return nanoseconds_per(count, [&] { (void)tandem::sync_wait(rt.workers(), make()); });
}

}  // namespace

int main(int argc, char** argv) {
  return tandem::bench::run_main(
      argc, argv,
      {
          {"fib",
           "serial",
           "floor",
           "ns/task",
           "lower",
           "n=32",
           {1},
           [](int) { return nanoseconds_per(fib_tasks, [] { (void)plain_fib(fib_n); }); }},
          {"fib",
           "serial_coroutine",
           "floor",
           "ns/task",
           "lower",
           "n=32",
           {1},
           [](int t) { return in_runtime(t, fib_tasks, [] { return awaited_fib(fib_n); }); }},
          {"fib",
           "tandem",
           "self",
           "ns/task",
           "lower",
           "n=32, every call a task",
           {1, 2},
           [](int t) { return in_runtime(t, fib_tasks, [] { return fib(fib_n); }); }},
          {"spawn_join",
           "tandem",
           "self",
           "ns/task",
           "lower",
           "n=300000",
           {1, 2},
           [](int t) { return in_runtime(t, spawns, [] { return spawn_and_join(); }); }},
          {"yield",
           "tandem",
           "self",
           "ns/yield",
           "lower",
           "n=300000",
           {1},
           [](int t) { return in_runtime(t, spawns, [] { return yields(); }); }},
      });
}
