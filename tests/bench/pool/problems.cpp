// problems.cpp: a round of posts, timed, and the counting of what has run.
// SPDX-License-Identifier: MIT
#include "problems.hpp"

#include <time.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <thread>

namespace tandem::bench::pool {

namespace {

long share_of_all = 1;

double thread_cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

}  // namespace

std::atomic<long>* tally::take_slot() noexcept {
  // Modulo: in a test that makes many pools a slot has had another owner, who has ended.
  const unsigned number = taken_.fetch_add(1, std::memory_order_relaxed) % most_threads;
  return mine_ = &slots_[number].counted;
}

long tally::sum() noexcept {
  long all = 0;
  for (const slot& each : slots_) all += each.counted.load(std::memory_order_relaxed);
  return all;
}

void tally::wait_for(long expected) {
  while (sum() < expected) std::this_thread::sleep_for(std::chrono::microseconds(20));
  expect_equal(sum(), expected, "the number of items that have run");
}

round_figures measure_round(int producers, long items, const post_share& post) {
  using clock = std::chrono::steady_clock;
  const long expected = tally::sum() + items;
  const long share = items / producers;
  std::vector<double> cpu_ns(static_cast<std::size_t>(producers));
  clock::time_point start;
  std::barrier ready(producers, [&start]() noexcept { start = clock::now(); });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < producers; ++i) {
      threads.emplace_back([&, i] {
        ready.arrive_and_wait();
        const double before = thread_cpu_ns();
        post(i * share, share);
        cpu_ns[static_cast<std::size_t>(i)] = thread_cpu_ns() - before;
      });
    }
  }
  tally::wait_for(expected);
  const std::chrono::duration<double, std::nano> taken = clock::now() - start;
  round_figures result;
  for (const double one : cpu_ns) result.post_cpu_ns += one;
  result.post_cpu_ns /= static_cast<double>(items);
  result.wall_ns = taken.count() / static_cast<double>(items);
  return result;
}

void set_share(long share) { share_of_all = share; }
long scaled(long items) { return std::max(items / share_of_all, std::min(items, 4 * lot)); }

}  // namespace tandem::bench::pool
