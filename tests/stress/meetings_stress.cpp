// meetings_stress.cpp: shared_mutex, barrier, condition_variable, once, and stops that race grants.
// SPDX-License-Identifier: MIT
//
// The laws: writers are alone, and readers are not beside one; nobody goes on from a barrier before
// its completion has run, and a phase has at most one leader; no notification is lost; one attempt
// at a time, until one succeeds. A lost wake-up is a hang, which the watchdog reports.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <tandem/barrier.hpp>
#include <tandem/condition_variable.hpp>
#include <tandem/once.hpp>
#include <tandem/select.hpp>
#include <tandem/selector.hpp>
#include <tandem/shared_mutex.hpp>
#include <tandem/sleep.hpp>
#include <tandem/yield.hpp>
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
using tandem::test::stop_some;
using tandem::test::stress;
using tandem::test::test_runtime;
using tandem::test::wait_for_all;

auto soon(std::uint64_t steps) { return tandem::sleep_for(std::chrono::microseconds(20 * steps)); }

TEST(meetings, a_writer_is_alone_and_readers_are_beside_readers_only) {
  struct state {
    tandem::shared_mutex m;
    long value = 0;  // guarded by m, as ThreadSanitizer checks
    std::atomic<int> readers{0};
    std::atomic<int> writers{0};
    std::atomic<long> written{0};
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> read(state& s, std::uint64_t kind) {
      const auto guard = co_await s.m.scoped_lock_shared();
      co_await look(s, kind);
    }
    static task<void> look(state& s, std::uint64_t kind) {
      ++s.readers;
      const long seen = s.value;
      if (kind == 0) (void)co_await tandem::as_result(tandem::yield());
      if (s.writers != 0 || s.value != seen) ++s.broken;
      --s.readers;
    }
    static task<void> perhaps_read(state& s, std::uint64_t kind) {
      auto hit = co_await tandem::select(s.m.scoped_lock_shared(), soon(kind));
      if (hit.index() == 0) co_await look(s, kind);
    }
    static task<void> perhaps_write(state& s, std::uint64_t kind) {
      auto hit = co_await tandem::select(s.m.scoped_lock(), soon(kind));
      if (hit.index() == 0) co_await write_holding(s, kind, std::move(hit).get<0>());
    }
    /// Its branches stay in the lists between the turns.
    static task<void> in_turns(state& s, std::uint64_t kind) {
      tandem::selector next(s.m.lock(), s.m.lock_shared(), soon(kind));
      for (int i = 0; i < 4; ++i) {
        auto hit = co_await next.next();
        if (hit.index() == 0) {
          tandem::write_guard writing(s.m);
          co_await write_holding(s, kind, std::move(writing));
        } else if (hit.index() == 1) {
          const tandem::read_guard reading(s.m);
          co_await look(s, kind);
        }
      }
    }
    static task<void> write(state& s, std::uint64_t kind) {
      tandem::write_guard guard = co_await s.m.scoped_lock();
      co_await write_holding(s, kind, std::move(guard));
    }
    static task<void> write_holding(state& s, std::uint64_t kind, tandem::write_guard guard) {
      if (++s.writers != 1 || s.readers != 0) ++s.broken;
      ++s.value;
      ++s.written;
      if (kind == 0) (void)co_await tandem::as_result(tandem::yield());
      --s.writers;
      if (kind > 1) co_return;
      const auto reading = std::move(guard).downgrade();
      co_await look(s, kind);
    }
    static task<void> one_of(state& s, std::uint64_t which, std::uint64_t kind) {
      switch (which) {
        case 0: return write(s, kind);
        case 1: return perhaps_write(s, kind);
        case 2: return perhaps_read(s, kind);
        case 3: return in_turns(s, kind);
        default: return read(s, kind);
      }
    }
    static task<void> run(state& s, std::uint64_t seed) {
      dice random(seed);
      for (int i = 0; i < 100; ++i) {
        const std::uint64_t kind = random(4);
        co_await perhaps_limited(one_of(s, random(7), kind), random);
      }
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
    EXPECT_EQ(s.value, s.written.load());
    EXPECT_TRUE(s.m.try_lock());
  });
}

TEST(meetings, nobody_goes_on_from_a_barrier_before_its_completion) {
  struct state {
    explicit state(std::size_t tasks) : all(tasks, [this] { ++phase; }) {}
    long phase = 0;  // written by completions; read by those that they let go
    std::atomic<long> leaders{0};
    std::atomic<long> broken{0};
    tandem::barrier all;
  };
  struct actor {
    static task<void> meet(state& s, const tandem::barrier_seat& seat, long& own) {
      const bool leads = co_await seat.arrive_and_wait();
      if (leads) ++s.leaders;
      if (s.phase != ++own) ++s.broken;  // the next one does not end without this task
    }
    static task<void> run(state& s, tandem::barrier_seat seat, std::uint64_t seed) {
      dice random(seed);
      const long phases = static_cast<long>(random(200));
      long own = 0;
      while (own < phases) {
        const bool met = co_await perhaps_limited(meet(s, seat, own), random);
        if (!met && tandem::stop_requested()) break;
      }
    }
  };
  stress([](std::mt19937_64& random) {
    const std::size_t tasks = 1 + random() % 8;
    state s(tasks);
    {
      test_runtime rt(some_threads(random));
      handles all;
      for (std::size_t i = 0; i < tasks; ++i) {
        all.push_back(rt->spawn(actor::run(s, s.all.seat(), random())));
      }
      std::erase_if(all, [&random](auto& each) {
        if (random() % 3 != 0) return false;
        tandem::test::spin(random() % 20000);
        // One that has not begun keeps its seat as long as somebody has its handle.
        return each.cancel() == tandem::cancel_result::removed_before_start;
      });
      wait_for_all(all);
    }  // now those that have not begun are gone, too
    EXPECT_EQ(s.broken.load(), 0);
    EXPECT_LE(s.leaders.load(), s.phase);
  });
}

TEST(meetings, no_notification_is_lost_to_a_wait_that_was_stopped) {
  struct state {
    tandem::mutex m;
    tandem::condition_variable filled;
    tandem::condition_variable emptied;
    int items = 0;   // guarded by m, as ThreadSanitizer checks
    long taken = 0;  // likewise
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> put(state& s) {
      const auto guard = co_await s.m.scoped_lock();
      co_await wait(s, s.emptied, 1);
      ++s.items;
      s.filled.notify_one();
    }
    static task<void> take(state& s) {
      const auto guard = co_await s.m.scoped_lock();
      co_await wait(s, s.filled, 0);
      --s.items;
      ++s.taken;
      s.emptied.notify_one();
    }
    static task<void> wait(state& s, tandem::condition_variable& changed, int not_while) {
      try {
        co_await changed.wait(s.m, [&s, not_while] { return s.items != not_while; });
      } catch (const tandem::operation_cancelled&) {
        ++s.items;  // held: a race with another holder is reported
        --s.items;
        throw;
      }
    }
    static task<void> run(state& s, bool puts, std::uint64_t seed) {
      dice random(seed);
      for (int i = 0; i < 200; ++i) {
        bool is_done = false;
        while (!is_done) {
          task<void> next = puts ? put(s) : take(s);
          is_done = co_await perhaps_limited(std::move(next), random);
        }
      }
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    state s;
    handles all;
    for (int i = 0; i < 8; ++i) all.push_back(rt->spawn(actor::run(s, i % 2 == 0, random())));
    wait_for_all(all);
    EXPECT_EQ(s.taken, 800);
    EXPECT_EQ(s.items, 0);
    EXPECT_TRUE(s.m.try_lock());
  });
}

TEST(meetings, one_attempt_at_a_time_until_one_succeeds) {
  struct state {
    tandem::once flag;
    int attempts = 0;  // by one at a time, as ThreadSanitizer checks
    std::atomic<int> inside{0};
    std::atomic<int> succeeded{0};
    std::atomic<long> broken{0};
  };
  struct actor {
    static task<void> attempt(state& s, std::uint64_t kind) {
      if (++s.inside != 1) ++s.broken;
      ++s.attempts;
      const bool stopped =
          kind == 0 && (co_await tandem::as_result(tandem::yield())).is_cancelled();
      --s.inside;
      if (stopped || kind < 3) throw std::runtime_error("planned");
      ++s.succeeded;
    }
    static task<void> ask(state& s, std::uint64_t kind) {
      co_await s.flag.call([&s, kind] { return attempt(s, kind); });
      if (!s.flag.is_done() || s.succeeded != 1) ++s.broken;
    }
    static task<void> run(state& s, std::uint64_t seed) {
      dice random(seed);
      bool is_done = false;
      while (!is_done && !tandem::stop_requested()) {
        is_done = co_await perhaps_limited(ask(s, random(8)), random);
      }
    }
  };
  stress([](std::mt19937_64& random) {
    test_runtime rt(some_threads(random));
    for (int round = 0; round < 20; ++round) {
      state s;
      handles all;
      for (int i = 0; i < 8; ++i) all.push_back(rt->spawn(actor::run(s, random())));
      if (round % 2 == 0) stop_some(all, random);
      wait_for_all(all);
      EXPECT_EQ(s.broken.load(), 0);
      EXPECT_EQ(s.succeeded, s.flag.is_done() ? 1 : 0);
      if (round % 2 != 0) {
        EXPECT_TRUE(s.flag.is_done());
      }
    }
  });
}

}  // namespace
