// hooks_stress.cpp: tasks of every kind under hooks, on many threads and executors.
// SPDX-License-Identifier: MIT
//
// The laws: each task has one end, and a begin unless it never ran; each segment that begins ends,
// on the same thread; and the times of a task add up to its life, to the nanosecond, wherever and
// however often it went on. Counters by name miss no task, and a recorder beside changes nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <tandem/blocking.hpp>
#include <tandem/channel.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/runtime.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::task_event;
using tandem::test::stress;
using tandem::test::test_runtime;

/// What hooks add up; nothing is locked, so that they are as quick as what they watch.
class tally {
 public:
  void watch(tandem::runtime_options& options, bool throws) {
    options.hooks.on_task_begin = [this, throws](const task_event& told) {
      ++begun;
      spawned_sum += number_of((told.when - told.queue_wait).time_since_epoch());
      if (throws) throw std::runtime_error("begin");
    };
    options.hooks.before_segment = [this, throws](const task_event& told) {
      ++open_here();
      ++segments_begun;
      if (told.queue_wait < 0ns) ++negative;
      if (throws) throw std::runtime_error("before");
    };
    options.hooks.after_segment = [this](const task_event& told) {
      // A task that its caller runs stands on the caller's segment; so they nest.
      if (--open_here() < 0) ++unpaired;
      ++segments_ended;
      if (told.run < 0ns) ++negative;
    };
    options.hooks.on_task_end = [this, throws](const task_event& told) {
      ++ended;
      segments_told += told.segments;
      if (told.outcome == tandem::task_outcome::removed) {
        ++removed;
      } else {
        life_sum +=
            number_of(told.when.time_since_epoch() - told.queue_wait - told.run - told.suspended);
      }
      if (throws) throw std::runtime_error("end");
    };
  }
  void expect_sound() const {
    EXPECT_EQ(begun + removed, ended);
    EXPECT_EQ(segments_begun, segments_ended);
    EXPECT_EQ(segments_told, segments_begun);
    EXPECT_EQ(unpaired, 0);
    EXPECT_EQ(negative, 0);
    // Of each task: end - (wait + run + suspended) is when it was spawned.
    EXPECT_EQ(life_sum, spawned_sum);
  }

  std::atomic<long> begun{0};
  std::atomic<long> ended{0};
  std::atomic<long> removed{0};
  std::atomic<long> unpaired{0};
  std::atomic<long> negative{0};
  std::atomic<std::uint64_t> segments_begun{0};
  std::atomic<std::uint64_t> segments_ended{0};
  std::atomic<std::uint64_t> segments_told{0};
  std::atomic<std::uint64_t> spawned_sum{0};  // modulo 2^64
  std::atomic<std::uint64_t> life_sum{0};

 private:
  static std::uint64_t number_of(std::chrono::nanoseconds time) {
    return static_cast<std::uint64_t>(time.count());
  }
  static int& open_here() {
    thread_local int open = 0;
    return open;
  }
};

task<int> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

task<void> nap(std::uint64_t dice) {
  co_await tandem::sleep_for(std::chrono::microseconds(dice % 200));
}

task<void> send(tandem::channel<int>& pipe) {
  for (int i = 0; i < 20; ++i) co_await pipe.send(i);
}
task<void> receive(tandem::channel<int>& pipe) {
  for (int i = 0; i < 20; ++i) (void)co_await pipe.receive();
}

class places {
 public:
  explicit places(tandem::runtime& owner) : own(owner, "own"), strand(owner.workers()) {}

  tandem::single_thread_executor own;
  tandem::strand strand;
};

task<void> item(tandem::runtime& rt, places& where, std::uint64_t dice) {
  switch (dice % 9) {
    case 0: EXPECT_EQ(co_await fib(8), 21); break;
    case 1: co_await tandem::when_all(nap(dice / 9), nap(dice / 7)); break;
    case 2: {
      auto call = [] { return 3; };
      EXPECT_EQ(co_await tandem::blocking(call), 3);
      break;
    }
    case 3: {
      tandem::join_handle<void> child = tandem::spawn(nap(dice / 9));
      if (dice / 9 % 2 == 0) co_await tandem::yield();
      co_await child;
      break;
    }
    case 4:
      co_await tandem::resume_on(where.own);
      co_await tandem::yield();
      co_await tandem::resume_on(where.strand.executor());
      co_await tandem::yield();
      break;
    case 5: {
      tandem::channel<int> pipe(4);
      co_await tandem::when_all(send(pipe), receive(pipe));
      break;
    }
    case 6: {
      tandem::join_handle<void> child = tandem::spawn(nap(1000));
      child.cancel();
      child.detach();
      break;
    }
    case 7: {
      tandem::join_handle<void> other = rt.workers().submit(nap(dice / 9));
      other.detach();
      break;
    }
    default:
      try {
        co_await tandem::with_timeout(std::chrono::microseconds(dice / 9 % 100), nap(dice / 7));
      } catch (const tandem::operation_cancelled&) {}
  }
}

task<void> all_items(tandem::runtime& rt, places& where, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  auto body = [&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t dice = random();
      if (dice % 3 == 0) {
        scope.spawn(where.strand.executor(), item(rt, where, dice / 3));
      } else {
        scope.spawn(item(rt, where, dice / 3));
      }
    }
    co_return;
  };
  co_await tandem::with_scope(body);
}

TEST(hooks_stress, each_task_is_told_of_from_begin_to_end_and_its_times_add_up) {
  stress([](std::mt19937_64& random) {
    tally told;
    {
      tandem::runtime_options options =
          tandem::test::with_threads(1 + static_cast<unsigned>(random() % 4));
      options.max_threads = options.min_threads + static_cast<unsigned>(random() % 3);
      options.submissions.queue = tandem::queue_kind::bounded;
      options.submissions.capacity = 2;
      options.submissions.when_saturated = random() % 2 == 0
                                               ? tandem::saturation_policy::caller_runs
                                               : tandem::saturation_policy::discard;
      options.timed_tasks_one_in = static_cast<std::uint32_t>(random() % 3);
      options.count_tasks_by_name = random() % 2 == 0;
      options.on_suppressed_exception = [](const std::exception_ptr&) {};
      told.watch(options, random() % 4 == 0);
      test_runtime rt(options);
      if (random() % 2 == 0) rt->trace_to("");
      places where(*rt);
      const std::uint64_t seed = random();
      std::atomic<bool> done{false};
      std::thread reader([&] {
        while (!done) EXPECT_FALSE(tandem::metrics_text(rt->metrics()).empty());
      });
      rt.run(all_items(*rt, where, seed));
      done = true;
      reader.join();
      if (options.count_tasks_by_name) {
        EXPECT_TRUE(rt->drain(1h));
        long ended = 0;
        for (const tandem::task_counts& each : rt->metrics().by_name) {
          ended += static_cast<long>(each.ended);
        }
        EXPECT_EQ(ended, told.ended.load());
      }
    }
    told.expect_sound();
  });
}

TEST(hooks_stress, under_a_virtual_clock_the_times_add_up_as_well) {
  stress([](std::mt19937_64& random) {
    tally told;
    {
      tandem::runtime_options options;
      options.clock = tandem::virtual_time(random(), 1 + static_cast<unsigned>(random() % 4));
      told.watch(options, false);
      tandem::runtime rt(options);
      places where(rt);
      tandem::sync_wait(rt.workers(), all_items(rt, where, random()));
    }
    told.expect_sound();
  });
}

}  // namespace
