// load.cpp: the items.
// SPDX-License-Identifier: MIT
#include "load.hpp"

#include <ctime>
#include <thread>

#include <tandem/clock.hpp>
#include <tandem/task_scope.hpp>

namespace monitor {

namespace {

std::chrono::nanoseconds used_by_this_thread() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

/// It waits as code does that knows of no runtime: nobody is told.
tandem::task<void> item(const settings& chosen, bool waits, progress& out) {
  if (waits && chosen.wait.count() != 0) std::this_thread::sleep_for(chosen.wait);
  compute_for(chosen.compute);
  out.completed.fetch_add(1, std::memory_order_relaxed);
  co_return;
}

/// Spread evenly: of 10 percent each tenth.
bool waits(const settings& chosen, std::uint64_t number) {
  return (number + 1) * chosen.blocking_percent / 100 != number * chosen.blocking_percent / 100;
}

}  // namespace

void compute_for(std::chrono::nanoseconds time) {
  const auto until = used_by_this_thread() + time;
  volatile unsigned work = 1;
  while (used_by_this_thread() < until) {
    for (int i = 0; i < 1000; ++i) work = work * 1664525U + 1013904223U;
  }
}

tandem::task<void> feed(const settings& chosen, std::chrono::nanoseconds duration, progress& out) {
  const auto until = tandem::now() + duration;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    scope.set_max_in_flight(chosen.outstanding);
    for (std::uint64_t i = 0; tandem::now() < until; ++i) {
      co_await scope.spawn_when_free(item(chosen, waits(chosen, i), out));
    }
  });
}

tandem::task<void> feed_burst(const settings& chosen, progress& out) {
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> tandem::task<void> {
    for (std::uint64_t i = 0; i < chosen.burst; ++i)
      scope.spawn(item(chosen, waits(chosen, i), out));
    co_return;
  });
}

}  // namespace monitor
