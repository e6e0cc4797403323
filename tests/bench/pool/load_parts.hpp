// load_parts.hpp: what the loads of pool_loads are made of: computing, blocking, a feeder, an observer.
// SPDX-License-Identifier: MIT
//
// Computing is counted by the clock of the thread's own CPU time: on a machine that does other
// things too an item takes longer, but asks for no more. Blocking is what no pool can see: the
// thread sleeps inside the item.
#pragma once

#include <tandem/runtime.hpp>

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace tandem::bench::loads {

using clock = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;
using seconds = std::chrono::duration<double>;

inline double thread_cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

inline void compute(milliseconds cpu) {
  const double until = thread_cpu_ms() + cpu.count();
  while (thread_cpu_ms() < until) {
    for (int i = 0; i < 2'000; ++i) asm volatile("" ::: "memory");
  }
}

inline void block(milliseconds wait) { std::this_thread::sleep_for(wait); }

/// An item that runs again and again: a job, so that nothing but the pool is measured.
class item : public job {
 public:
  item() : job(&item::run_job) {}
  std::function<void()> body;

 private:
  static void run_job(job* self) noexcept { static_cast<item*>(self)->body(); }
};

/// Keeps so many items of one kind waiting or running; counts those that have run.
class feeder {
 public:
  feeder(runtime& owner, std::function<void(long number)> body, int outstanding)
      : owner_(owner), body_(std::move(body)) {
    items_ = std::vector<item>(static_cast<std::size_t>(outstanding));
    for (item& each : items_) {
      each.body = [this, &each] { run(each); };
    }
  }

  void start() {
    stopping_.store(false);
    left_.store(static_cast<int>(items_.size()));
    for (item& each : items_) post(each);
  }
  /// Returns when none is left.
  void stop() {
    stopping_.store(true);
    while (left_.load() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  long ran() const { return ran_.load(); }

 private:
  // Behind all others, as a stream of requests would come.
  void post(item& one) { owner_.workers().post(&one, post_kind::yield); }
  void run(item& one) {
    body_(number_.fetch_add(1));
    ran_.fetch_add(1);
    if (!stopping_.load()) {
      post(one);
    } else {
      left_.fetch_sub(1);
    }
  }

  runtime& owner_;
  const std::function<void(long)> body_;
  std::vector<item> items_;
  std::atomic<long> number_{0};
  std::atomic<long> ran_{0};
  std::atomic<int> left_{0};
  std::atomic<bool> stopping_{false};
};

/// Mean and most of the threads that the pool lets run, every 20 ms over a span.
class observation {
 public:
  double goal_mean = 0;
  unsigned goal_most = 0;
  unsigned threads_most = 0;

  /// Until `done`, or for `span`.
  static observation of(
      runtime& owner, seconds span, const std::function<bool()>& done = [] { return false; }) {
    observation result;
    double sum = 0;
    long samples = 0;
    const clock::time_point end = clock::now() + std::chrono::duration_cast<clock::duration>(span);
    while (clock::now() < end && !done()) {
      const worker_pool_stats now = owner.workers().stats();
      sum += now.goal;
      ++samples;
      result.goal_most = std::max(result.goal_most, now.goal);
      result.threads_most = std::max(result.threads_most, now.threads);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    result.goal_mean = samples == 0 ? 0 : sum / static_cast<double>(samples);
    return result;
  }
};

}  // namespace tandem::bench::loads
