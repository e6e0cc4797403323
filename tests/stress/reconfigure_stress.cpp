// reconfigure_stress.cpp: a pool is changed up and down under a random load, and shut down at a random moment.
// SPDX-License-Identifier: MIT
//
// The laws: whatever is changed, and when, each submission runs, is refused or is cancelled; no
// task is lost; there are never more threads than the largest max_threads; each thread that starts
// exits; with the changes over, what is one too many goes; shutdown ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <tandem/blocking_region.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/pool_change.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/yield.hpp>
#include <thread>

#include "kept_handles.hpp"
#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::growth_order;
using tandem::pool_change;
using tandem::queue_kind;
using tandem::runtime_options;
using tandem::saturation_policy;
using tandem::task;
using tandem::worker_pool;
using tandem::test::kept_handles;
using tandem::test::stress;
using tandem::test::test_runtime;

constexpr unsigned largest = 12;

tandem::adaptive_options restless() {
  tandem::adaptive_options options;
  options.gate_period = 1ms;
  options.starvation_delay = 1ms;
  options.starvation_busy_delay_per_thread = 1ms;
  options.min_sample_interval = 1ms;
  options.max_sample_interval = 2ms;
  options.coarse_sample_retry = 1ms;
  options.cpu_sample_interval = 1ms;
  options.blocking_delay_step = 1ms;
  options.blocking_max_delay = 2ms;
  return options;
}

growth_order any_order(std::mt19937_64& random) {
  constexpr std::array orders = {growth_order::demand, growth_order::queue_first,
                                 growth_order::threads_first};
  return orders[random() % orders.size()];
}

/// Any of the options, several at once.
pool_change any_change(std::mt19937_64& random) {
  pool_change change;
  if (random() % 4 != 0) {
    change.min_threads = 1 + static_cast<unsigned>(random() % 6);
    change.max_threads = *change.min_threads + static_cast<unsigned>(random() % 7);
  }
  if (random() % 3 == 0) change.keep_alive = std::chrono::microseconds(1 + random() % 1000);
  if (random() % 4 == 0) change.allow_core_timeout = random() % 2 == 0;
  if (random() % 4 == 0) change.growth = any_order(random);
  if (random() % 4 == 0) {
    change.adaptive = random() % 2 == 0 ? restless() : tandem::adaptive_options(false);
  }
  if (random() % 4 == 0) {
    constexpr std::array policies = {saturation_policy::abort, saturation_policy::discard,
                                     saturation_policy::caller_runs, saturation_policy::handler};
    change.when_saturated = policies[random() % policies.size()];
    if (*change.when_saturated == saturation_policy::handler) {
      change.on_rejected = [](const tandem::rejection&) { return saturation_policy::discard; };
    }
  }
  if (random() % 4 == 0) change.timed_tasks_one_in = static_cast<std::uint32_t>(random() % 3);
  return change;
}

task<int> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

class round_of_changes {
 public:
  explicit round_of_changes(std::uint64_t seed) : random_(seed), runtime_(options()) {}

  void play() {
    std::array<std::thread, 2> producers;
    for (auto& each : producers) {
      each = std::thread([this, seed = random_()] { produce(seed); });
    }
    const std::uint64_t changes = 5 + random_() % 40;
    for (std::uint64_t i = 0; i < changes; ++i) {
      runtime_.workers().reconfigure(any_change(random_));
      if (random_() % 2 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
      }
      EXPECT_LE(runtime_.workers().stats().threads, largest);
    }
    if (random_() % 2 == 0) {
      end_in_the_middle();
      for (auto& each : producers) each.join();
    } else {
      for (auto& each : producers) each.join();
      settle();
    }
    account();
  }

  /// After the runtime has ended.
  void check_threads() {
    EXPECT_EQ(started_.load(), exited_.load());
    EXPECT_EQ(terminated_.load(), 1);
  }
  void end() { runtime_->shutdown(); }

 private:
  runtime_options options() {
    runtime_options made;
    made.min_threads = 1 + static_cast<unsigned>(random_() % 3);
    made.max_threads = made.min_threads + static_cast<unsigned>(random_() % 4);
    made.keep_alive = std::chrono::microseconds(1 + random_() % 500);
    made.growth = any_order(random_);
    made.adaptive = random_() % 2 == 0 ? restless() : tandem::adaptive_options(false);
    made.submissions.queue = random_() % 2 == 0 ? queue_kind::bounded : queue_kind::unbounded;
    if (made.submissions.queue == queue_kind::bounded) {
      made.submissions.capacity = 1 + random_() % 8;
    }
    made.log_starvation = false;
    made.on_terminated = [this] { ++terminated_; };
    made.threads.on_start = [this](unsigned) { ++started_; };
    made.threads.on_exit = [this](unsigned) { ++exited_; };
    if (random_() % 2 == 0) {
      made.threads.factory = [this](std::function<void()> body, const std::string&) {
        if (asked_++ % 3 == 0) throw std::runtime_error("not now");
        return std::thread(std::move(body));
      };
    }
    return made;
  }

  task<void> work(std::uint64_t dice) {
    switch (dice % 8) {
      case 0: {
        const tandem::blocking_region region;
        std::this_thread::sleep_for(std::chrono::microseconds(dice / 8 % 200));
        break;
      }
      case 1: std::this_thread::sleep_for(std::chrono::microseconds(dice / 8 % 200)); break;
      case 2: co_await tandem::sleep_for(std::chrono::microseconds(dice / 8 % 200)); break;
      case 3: EXPECT_EQ(co_await fib(8), 21); break;
      case 4:
        for (std::uint64_t i = 0; i < dice / 8 % 10; ++i) co_await tandem::yield();
        break;
      default: break;
    }
    ++ran_;
  }

  void produce(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 120; ++i) {
      try {
        switch (random() % 3) {
          case 0: handles_.keep(runtime_->spawn(work(random()))); break;
          case 1: handles_.keep(runtime_->spawn(waiter(random()))); break;
          default: handles_.keep(runtime_.workers().submit(work(random()))); break;
        }
        ++taken_;
      } catch (const tandem::rejected&) {
      } catch (const tandem::runtime_stopped&) {}
    }
  }

  task<void> waiter(std::uint64_t dice) {
    try {
      auto handle = co_await runtime_.workers().submit_when_free(work(dice));
      handles_.keep(std::move(handle));
      ++taken_;
    } catch (const tandem::rejected&) {}
    ++ran_;
  }

  void end_in_the_middle() {
    if (random_() % 2 == 0) {
      runtime_.workers().shutdown();
    } else {
      (void)runtime_.workers().shutdown_now();
    }
    runtime_.workers().reconfigure(any_change(random_));
    EXPECT_TRUE(runtime_.workers().await_termination(1h));
    EXPECT_EQ(runtime_.workers().stats().threads, 0U);
  }

  void settle() {
    EXPECT_TRUE(runtime_->drain(1h));
    pool_change last;
    last.min_threads = 2;
    last.max_threads = 3;
    last.keep_alive = 1us;
    last.allow_core_timeout = false;
    runtime_.workers().reconfigure(last);
    // What is one too many goes, and the counts are right.
    while (true) {
      const auto now = runtime_.workers().stats();
      if (now.threads <= 2 && now.idle == now.threads && now.searching == 0) break;
      std::this_thread::sleep_for(100us);
    }
    EXPECT_EQ(runtime_.workers().stats().submissions, 0U);
  }

  void account() {
    const kept_handles::ends counted = handles_.count_ends();
    EXPECT_EQ(counted.all(), taken_.load());
    EXPECT_LE(counted.values, ran_.load());
    EXPECT_EQ(runtime_->live_tasks(), 0U);
  }

  std::mt19937_64 random_;
  std::atomic<long> ran_{0};
  std::atomic<long> taken_{0};
  std::atomic<int> started_{0};
  std::atomic<int> exited_{0};
  std::atomic<int> terminated_{0};
  std::atomic<unsigned> asked_{0};
  kept_handles handles_;
  test_runtime runtime_;
};

TEST(reconfigure_stress, whatever_is_changed_and_when_every_task_is_accounted_for) {
  stress([](std::mt19937_64& random) {
    round_of_changes round(random());
    round.play();
    round.end();
    round.check_threads();
  });
}

}  // namespace
