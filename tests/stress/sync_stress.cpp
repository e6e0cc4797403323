// sync_stress.cpp: event, semaphore, mutex, latch and wait_group, with stops racing grants.
// SPDX-License-Identifier: MIT
//
// The laws: every await ends once, returned or cancelled; a mutex has one holder; permits are
// conserved; an event lets go only when set; a latch counts every arrival. A lost wake-up is a
// hang, which the watchdog reports.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <tandem/event.hpp>
#include <tandem/latch.hpp>
#include <tandem/mutex.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/wait_group.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>

#include "seeded.hpp"
#include "sync_actors.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::task;
using tandem::test::dice;
using tandem::test::handles;
using tandem::test::perhaps_limited;
using tandem::test::some_threads;
using tandem::test::spin;
using tandem::test::stop_some;
using tandem::test::stress;
using tandem::test::test_runtime;
using tandem::test::wait_for_all;

TEST(sync, a_mutex_has_one_holder_whoever_is_stopped) {
  struct state {
    tandem::mutex m;
    int inside = 0;  // guarded by m, as ThreadSanitizer checks
    long entries = 0;
    std::atomic<long> entered{0};
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> hold(state& s, std::uint64_t kind) {
      const auto guard = co_await s.m.scoped_lock();
      if (++s.inside != 1) ++s.broken;
      ++s.entries;
      ++s.entered;
      if (kind == 0) (void)co_await tandem::as_result(tandem::yield());
      --s.inside;
    }
    static task<void> run(state& s, std::uint64_t seed) {
      dice random(seed);
      for (int i = 0; i < 100; ++i) co_await perhaps_limited(hold(s, random(4)), random);
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    state s;
    handles all;
    for (int i = 0; i < 8; ++i) all.push_back(rt->spawn(actor::run(s, random())));
    stop_some(all, random);
    wait_for_all(all);
    EXPECT_EQ(s.broken.load(), 0);
    EXPECT_EQ(s.entries, s.entered.load());
    EXPECT_TRUE(s.m.try_lock());
  });
}

TEST(sync, permits_are_conserved_whoever_is_stopped) {
  struct state {
    explicit state(long n) : s(static_cast<std::size_t>(n)), left(n) {}
    tandem::semaphore s;
    std::atomic<long> left;
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> hold(state& s, std::size_t n, std::uint64_t kind) {
      const auto permit = co_await s.s.scoped(n);
      if ((s.left -= static_cast<long>(n)) < 0) ++s.broken;
      if (kind == 0) (void)co_await tandem::as_result(tandem::yield());
      s.left += static_cast<long>(n);
    }
    static task<void> run(state& s, std::size_t most, std::uint64_t seed) {
      dice random(seed);
      for (int i = 0; i < 100; ++i) {
        co_await perhaps_limited(hold(s, 1 + random(most), random(4)), random);
        if (random(8) == 0 && s.s.try_acquire(most)) s.s.release(most);
      }
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    const auto permits = static_cast<long>(1 + random() % 6);
    state s(permits);
    handles all;
    for (int i = 0; i < 8; ++i) {
      all.push_back(rt->spawn(actor::run(s, static_cast<std::size_t>(permits), random())));
    }
    stop_some(all, random);
    wait_for_all(all);
    EXPECT_EQ(s.broken.load(), 0);
    EXPECT_EQ(s.s.available(), static_cast<std::size_t>(permits));
  });
}

TEST(sync, an_event_lets_go_only_when_set_and_then_all) {
  struct state {
    tandem::event e;
    std::atomic<bool> set{false};
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> wait(state& s) {
      co_await s.e;
      if (!s.set) ++s.broken;
    }
    static task<void> run(state& s, std::uint64_t seed) {
      dice random(seed);
      spin(random(2000));
      if (random(2) == 0) co_await perhaps_limited(wait(s), random);
      co_await wait(s);  // ends by the set, or by a stop
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    for (int round = 0; round < 20; ++round) {
      state s;
      handles all;
      for (int i = 0; i < 16; ++i) all.push_back(rt->spawn(actor::run(s, random())));
      if (random() % 2 == 0) stop_some(all, random);
      spin(random() % 5000);
      s.set = true;
      s.e.set();
      if (random() % 2 == 0) stop_some(all, random);
      wait_for_all(all);
      EXPECT_EQ(s.broken.load(), 0);
    }
  });
}

TEST(sync, a_stop_that_meets_the_begin_of_a_wait_ends_it) {
  struct state {
    tandem::event never;
    std::atomic<bool> about_to_wait{false};
  };
  struct actor {
    static task<void> run(state& s, std::uint64_t turns) {
      s.about_to_wait = true;
      spin(turns);
      co_await s.never;
    }
  };
  test_runtime rt(1);
  stress([&rt](std::mt19937_64& random) {
    for (int i = 0; i < 200; ++i) {
      state s;
      auto handle = rt->spawn(actor::run(s, random() % 64));
      while (!s.about_to_wait) {}
      spin(random() % 256);
      (void)handle.cancel();
      EXPECT_THROW(handle.wait(), tandem::operation_cancelled);
    }
  });
}

TEST(sync, latches_and_wait_groups_count_every_arrival) {
  struct state {
    explicit state(int n) : l(static_cast<std::size_t>(n)), expected(n) {}
    tandem::latch l;
    tandem::wait_group g;
    int expected;
    std::atomic<int> arrived{0};
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> run(state& s, tandem::wait_group_token token, std::uint64_t seed) {
      dice random(seed);
      spin(random(2000));
      ++s.arrived;
      const bool opened = (co_await tandem::as_result(s.l.arrive_and_wait())).has_value();
      if (opened && s.arrived != s.expected) ++s.broken;
      if (random(2) == 0) token.done();
    }
    static task<void> watch(state& s, std::uint64_t seed) {
      dice random(seed);
      while (!co_await s.g.wait_for(std::chrono::microseconds(random(50)))) {}
      if (s.g.count() != 0 || !s.l.try_wait()) ++s.broken;
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    for (int round = 0; round < 10; ++round) {
      const int tasks = static_cast<int>(1 + random() % 8);
      state s(tasks);
      handles all;
      for (int i = 0; i < tasks; ++i) {
        all.push_back(rt->spawn(actor::run(s, s.g.token(), random())));
      }
      handles watchers;
      for (int i = 0; i < 3; ++i) watchers.push_back(rt->spawn(actor::watch(s, random())));
      // One that is stopped before it began never arrives: only those that have are stopped.
      while (s.arrived != tasks) std::this_thread::yield();
      stop_some(all, random);
      wait_for_all(all);
      wait_for_all(watchers);
      EXPECT_EQ(s.broken.load(), 0);
      EXPECT_TRUE(s.l.try_wait());
    }
  });
}

}  // namespace
