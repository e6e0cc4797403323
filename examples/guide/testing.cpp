// testing.cpp: a test of code that waits: hours pass in a moment, and a seed repeats what happened.
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tandem/clock.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/virtual_time.hpp>

using namespace std::chrono_literals;
using tandem::task;

// What is to be tested: it knows nothing of tests.
task<void> remind(std::string& said, std::string what, std::chrono::hours after) {
  co_await tandem::sleep_for(after);
  said += what;
}

task<void> a_day(std::string& said) {
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(remind(said, "C", 20h));
    scope.spawn(remind(said, "A", 8h));
    scope.spawn(remind(said, "b", 12h));  // these two are due at the same time:
    scope.spawn(remind(said, "B", 12h));  // the seed says which one comes first
    co_return;
  });
}

// One thread plays two workers. When all of them wait, the clock jumps to the next timer.
std::string day_of(std::uint64_t seed) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(seed, 2);
  std::string said;
  tandem::run(a_day(said), options);
  return said;
}

int main() {
  int mistakes = 0;
  bool other_order = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string said = day_of(seed);
    if (said != "AbBC" && said != "ABbC") ++mistakes;  // print the seed: it repeats the failure
    if (said != day_of(seed)) ++mistakes;
    if (said != day_of(1)) other_order = true;
  }
  std::printf("20 days, twice: %d mistakes%s\n", mistakes, other_order ? ", both orders seen" : "");
  return mistakes == 0 && other_order ? 0 : 1;
}
