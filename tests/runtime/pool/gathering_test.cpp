// gathering_test.cpp: whoever waits until a worker has run dry is woken by it, and by nobody too late.
// SPDX-License-Identifier: MIT
#include <tandem/detail/gathering.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/worker_pool.hpp>
#include <thread>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::detail::gathering;
using tandem::test::test_runtime;
using clock = std::chrono::steady_clock;

/// Keeps one worker until it may go.
class occupied_worker {
 public:
  explicit occupied_worker(test_runtime& rt) : held_(rt->spawn(hold())) {
    while (!begun_.load()) std::this_thread::yield();
  }
  void release() { free_.store(true); }
  void join() {
    release();
    held_.wait();
  }

 private:
  task<void> hold() {
    begun_.store(true);
    while (!free_.load()) std::this_thread::yield();
    co_return;
  }

  std::atomic<bool> begun_{false};
  std::atomic<bool> free_{false};
  tandem::join_handle<void> held_;
};

TEST(gathering, returns_at_once_while_a_worker_is_idle) {
  test_runtime rt(2);
  occupied_worker one(rt);
  gathering waits;
  waits.prepare();
  waits.wait(rt.workers(), clock::now() + 1h);
  one.join();
}

TEST(gathering, lasts_until_its_time_while_all_workers_run) {
  test_runtime rt(1);
  occupied_worker one(rt);
  gathering waits;
  for (int i = 0; i < 3; ++i) {
    const clock::time_point until = clock::now() + 2ms;
    waits.prepare();
    waits.wait(rt.workers(), until);
    EXPECT_GE(clock::now(), until);
  }
  one.join();
}

TEST(gathering, ends_when_a_worker_has_run_dry) {
  test_runtime rt(1);
  gathering waits;
  for (int i = 0; i < 200; ++i) {
    occupied_worker one(rt);
    waits.prepare();
    std::jthread opener([&one] { one.release(); });
    waits.wait(rt.workers(), clock::now() + 1h);
    one.join();
  }
}

TEST(gathering, an_end_that_comes_before_the_wait_is_not_lost) {
  test_runtime rt(1);
  occupied_worker one(rt);
  gathering waits;
  waits.prepare();
  waits.end();
  waits.wait(rt.workers(), clock::now() + 1h);
  one.join();
}

TEST(gathering, one_gathers_at_a_time) {
  test_runtime rt(1);
  occupied_worker one(rt);
  gathering first;
  gathering second;
  std::atomic<bool> done{false};
  std::jthread waiter([&] {
    while (!done.load()) {
      first.prepare();
      first.wait(rt.workers(), clock::now() + 1h);  // at once if the second one happens to be there
    }
  });
  const auto in_vain = [&] {
    const clock::time_point until = clock::now() + 1ms;
    second.prepare();
    second.wait(rt.workers(), until);
    return clock::now() < until;
  };
  while (!in_vain()) {}
  done.store(true);
  one.join();  // runs dry
}

TEST(gathering, no_worker_that_searches_or_parks_forgets_it) {
  // Each round races the end of a search, a park and the wait itself. Without gathering/run_dry in
  // park() one of them waits for an hour.
  test_runtime rt(1);
  gathering waits;
  std::atomic<bool> done{false};
  std::jthread poster([&] {
    while (!done.load()) rt->spawn([]() -> task<void> { co_return; }()).wait();
  });
  const clock::time_point end = clock::now() + 300ms;
  while (clock::now() < end) {
    waits.prepare();
    waits.wait(rt.workers(), clock::now() + 1h);
  }
  done.store(true);
}

}  // namespace
