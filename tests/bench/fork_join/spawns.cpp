// spawns.cpp: cases spawn_join and yield: tasks that are no forks, and so go through the FIFO lane.
// SPDX-License-Identifier: MIT
#include <tandem/spawn.hpp>
#include <tandem/yield.hpp>

#include "suite.hpp"

namespace tandem::bench {

namespace {

constexpr int spawns = 300'000;
constexpr int passes = 10;

task<int> one() { co_return 1; }

task<long> spawn_and_join() {
  long sum = 0;
  for (int i = 0; i < spawns; ++i) {
    auto handle = spawn(one());
    sum += co_await handle;
  }
  co_return sum;
}

task<long> yields() {
  for (int i = 0; i < spawns; ++i) co_await yield();
  co_return spawns;
}

template <class Make>
double sample(int threads, Make make) {
  workers on(threads);
  (void)on(make());
  return nanoseconds_per(static_cast<double>(spawns) * passes, [&] {
    for (int i = 0; i < passes; ++i) expect_equal(on(make()), long{spawns}, "the count");
  });
}

}  // namespace

void add_spawns(case_list& cases) {
  cases.push_back({.name = "spawn_join",
                   .impl = "tandem",
                   .role = "self",
                   .unit = "ns/task",
                   .better = "lower",
                   .input = "one task spawns and awaits 300,000, one at a time",
                   .threads = {},
                   .sample = [](int t) { return sample(t, [] { return spawn_and_join(); }); }});
  cases.push_back({.name = "yield",
                   .impl = "tandem",
                   .role = "self",
                   .unit = "ns/yield",
                   .better = "lower",
                   .input = "one task yields 300,000 times",
                   .threads = {},
                   .sample = [](int t) { return sample(t, [] { return yields(); }); }});
}

}  // namespace tandem::bench
