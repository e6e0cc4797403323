// load.cpp: the items.
// SPDX-License-Identifier: MIT
#include "load.hpp"

#include <ctime>
#include <thread>

#include <tandem/clock.hpp>
#include <tandem/wait_group.hpp>
#include <tandem/worker_pool.hpp>

namespace monitor {

namespace {

std::chrono::nanoseconds used_by_this_thread() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

/// It waits as code does that knows of no runtime: nobody is told.
tandem::task<void> item(const settings& chosen, bool waits, progress& out,
                        tandem::wait_group_token running) {
  if (waits && chosen.wait.count() != 0) std::this_thread::sleep_for(chosen.wait);
  compute_for(chosen.compute);
  out.completed.fetch_add(1, std::memory_order_relaxed);
  running.done();
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

tandem::task<void> feed(tandem::worker_pool& pool, const settings& chosen, progress& out) {
  const auto until = tandem::now() + chosen.duration;
  tandem::wait_group running;
  for (std::uint64_t i = 0; tandem::now() < until; ++i) {
    auto place = pool.submit_when_free(item(chosen, waits(chosen, i), out, running.token()));
    (co_await std::move(place)).detach();
  }
  co_await running.wait();
}

tandem::task<void> feed_burst(tandem::worker_pool& pool, const settings& chosen, progress& out) {
  tandem::wait_group running;
  for (std::uint64_t i = 0; i < chosen.burst; ++i) {
    pool.submit(item(chosen, waits(chosen, i), out, running.token())).detach();
  }
  co_await running.wait();
}

}  // namespace monitor
